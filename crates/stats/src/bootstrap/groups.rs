//! Resampling of data that come in groups: whole blocks, or groups and then their members.

use std::cmp::Ordering;

use super::{Bootstrap, draw_into};
use crate::quantile::in_range;
use crate::{Interval, Rng, Sample, StatsError};

impl Bootstrap {
    /// The percentile interval of a statistic of blocks that stay whole: so many blocks are drawn with replacement, and
    /// each comes with all its values in their places. For what is made from the same block's values, such as the
    /// shares of the variance that factors make up, or a curve fitted through the cases of each block. `None` below
    /// [`crate::Level::least_sample`] blocks.
    ///
    /// A block is a row with one entry for each case, `None` for a missing one; the statistic gets the rows in no
    /// particular order and must not depend on it. Rows are put in order before drawing, so that the result does not
    /// depend on the order of the blocks either.
    ///
    /// Source: A. C. Davison and D. V. Hinkley, *Bootstrap Methods and their Application*, Cambridge 1997, sections 2.4
    /// and 3.8: what is drawn must be what was repeated.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] for a value that is no finite number, with the number of its block; otherwise as of
    /// [`Bootstrap::interval`].
    pub fn interval_over_blocks<R: AsRef<[Option<f64>]>>(
        &self,
        blocks: &[R],
        mut statistic: impl FnMut(&[&[Option<f64>]]) -> f64,
    ) -> Result<Option<Interval>, StatsError> {
        let rows = ordered_rows(blocks)?;
        let Some((resamples, beyond)) = self.plan(rows.len())? else { return Ok(None) };
        let mut drawn = Vec::with_capacity(rows.len());
        let replicates = self.replicates(resamples, |rng| {
            draw_rows(&rows, &mut drawn, rng);
            statistic(&drawn)
        })?;
        Ok(Some(self.between(&replicates, beyond, 1.0 - beyond)?))
    }

    /// The percentile interval of a statistic of groups, by two steps: so many groups are drawn with replacement, and
    /// then within each one drawn so many members as it has. For groups that are draws from a population of groups,
    /// with members that are draws from their group: processes and their runs. `None` below
    /// [`crate::Level::least_sample`] groups.
    ///
    /// The second step adds the members' spread to that of the groups, which holds it already. So the interval covers
    /// **at least** as often as asked; with k groups of m members, and groups that do not differ, it is up to √2 too
    /// wide. Where a group's mean is all that counts, use [`Bootstrap::interval`] of these means.
    ///
    /// Groups are put in order before drawing: neither the order of groups nor that of members changes a bit.
    ///
    /// Source: A. C. Davison and D. V. Hinkley, *Bootstrap Methods and their Application*, Cambridge 1997, section 3.8
    /// (strategy 2); used on benchmarks by T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM
    /// 2013.
    ///
    /// # Errors
    /// As of [`Bootstrap::interval`].
    pub fn hierarchical_interval(
        &self,
        groups: &[Sample],
        mut statistic: impl FnMut(&[Sample]) -> f64,
    ) -> Result<Option<Interval>, StatsError> {
        let Some((resamples, beyond)) = self.plan(groups.len())? else { return Ok(None) };
        let mut groups: Vec<&Sample> = groups.iter().collect();
        groups.sort_by(|a, b| by_values(a.sorted().iter(), b.sorted().iter(), |a, b| a.total_cmp(b)));
        let mut counts = vec![0; groups.iter().map(|group| group.len()).max().unwrap_or(0)];
        let mut drawn = Vec::with_capacity(groups.len());
        let replicates = self.replicates(resamples, |rng| {
            drawn.clear();
            for _ in &groups {
                let group = groups[rng.below(groups.len() as u64) as usize];
                let mut members = group.clone();
                draw_into(group.sorted(), &mut counts, members.sorted_mut(), rng);
                drawn.push(members);
            }
            statistic(&drawn)
        })?;
        Ok(Some(self.between(&replicates, beyond, 1.0 - beyond)?))
    }

    /// Gives `visit` each resample of whole blocks; for several statistics of the same resamples.
    pub(crate) fn each_resample_of_rows(
        &self,
        rows: &[&[Option<f64>]],
        resamples: u32,
        mut visit: impl FnMut(&[&[Option<f64>]]),
    ) {
        let mut rng = Rng::seeded(self.seed);
        let mut drawn = Vec::with_capacity(rows.len());
        for _ in 0..resamples {
            draw_rows(rows, &mut drawn, &mut rng);
            visit(&drawn);
        }
    }

    /// How many resamples of so many units the bounds need, and the share beyond each bound. `None` for too few units.
    pub(crate) fn plan(&self, units: usize) -> Result<Option<(u32, f64)>, StatsError> {
        if units < self.level.least_sample() {
            return Ok(None);
        }
        let beyond = self.beyond(units);
        Ok(Some((self.resamples_for(beyond)?, beyond)))
    }
}

fn draw_rows<'a>(rows: &[&'a [Option<f64>]], drawn: &mut Vec<&'a [Option<f64>]>, rng: &mut Rng) {
    drawn.clear();
    drawn.extend(rows.iter().map(|_| rows[rng.below(rows.len() as u64) as usize]));
}

/// The rows in an order that depends on their values only.
pub(crate) fn ordered_rows<R: AsRef<[Option<f64>]>>(blocks: &[R]) -> Result<Vec<&[Option<f64>]>, StatsError> {
    let mut rows: Vec<&[Option<f64>]> = blocks.iter().map(AsRef::as_ref).collect();
    for (index, row) in rows.iter().enumerate() {
        if let Some(value) = row.iter().flatten().copied().find(|&value| !in_range(value)) {
            return Err(StatsError::OutOfRange { index, value });
        }
    }
    rows.sort_by(|a, b| {
        by_values(a.iter(), b.iter(), |a, b| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        })
    });
    Ok(rows)
}

/// Orders two rows by their first difference, and the shorter one first where there is none.
fn by_values<T>(
    a: impl ExactSizeIterator<Item = T>,
    b: impl ExactSizeIterator<Item = T>,
    mut order: impl FnMut(T, T) -> Ordering,
) -> Ordering {
    let lengths = a.len().cmp(&b.len());
    a.zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne()).unwrap_or(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn pooled_mean(groups: &[Sample]) -> f64 {
        groups.iter().map(Sample::mean).sum::<f64>() / groups.len() as f64
    }

    fn groups() -> Vec<Sample> {
        let values = [[1.0, 1.2], [2.0, 2.1], [1.5, 1.4], [1.1, 1.9], [0.8, 1.3], [1.7, 1.6]];
        values.iter().map(|group| Sample::new(group).unwrap()).collect()
    }

    #[test]
    fn too_few_groups_get_no_interval_however_many_members_they_have() {
        let group = Sample::new(&[1.0; 100]).unwrap();
        let found = Bootstrap::new(Level::P95, 1).hierarchical_interval(&vec![group; 4], pooled_mean);
        assert_eq!(found, Ok(None));
        let rows = vec![vec![Some(1.0); 100]; 4];
        assert_eq!(Bootstrap::new(Level::P95, 1).interval_over_blocks(&rows, |_| 1.0), Ok(None));
    }

    #[test]
    fn the_order_of_groups_changes_no_bit() {
        let bootstrap = Bootstrap::new(Level::P95, 3);
        let mut reversed = groups();
        reversed.reverse();
        let forward = bootstrap.hierarchical_interval(&groups(), pooled_mean);
        assert_eq!(forward, bootstrap.hierarchical_interval(&reversed, pooled_mean));
        assert_ne!(forward, Bootstrap::new(Level::P95, 4).hierarchical_interval(&groups(), pooled_mean));
    }

    #[test]
    fn a_block_is_drawn_whole() {
        // The difference of the two cases is 1 in every block, so it is 1 in every resample.
        let rows: Vec<_> = (0..6).map(|block| [Some(f64::from(block)), Some(f64::from(block) + 1.0)]).collect();
        let difference = |rows: &[&[Option<f64>]]| {
            let sum = |case: usize| rows.iter().filter_map(|row| row[case]).sum::<f64>();
            (sum(1) - sum(0)) / rows.len() as f64
        };
        let found = Bootstrap::new(Level::P95, 1).interval_over_blocks(&rows, difference).unwrap().unwrap();
        assert_eq!((found.low, found.high), (1.0, 1.0));
    }

    #[test]
    fn a_value_that_is_no_number_is_refused_with_its_block() {
        let rows = [vec![Some(1.0)], vec![None], vec![Some(f64::INFINITY)]];
        let refused = Bootstrap::new(Level::P95, 1).interval_over_blocks(&rows, |_| 1.0);
        assert_eq!(refused, Err(StatsError::OutOfRange { index: 2, value: f64::INFINITY }));
    }
}
