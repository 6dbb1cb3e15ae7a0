//! Symmetric positive definite matrices with a row for each case.

/// The inverse, by Cholesky decomposition. If the matrix is not positive definite, rows come out as NaN.
pub(crate) fn inverse(matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let lower = cholesky(matrix);
    // The inverse is symmetric, so its columns are its rows.
    (0..lower.len()).map(|column| solved(&lower, column)).collect()
}

/// The vector whose product with the matrix is 1 in row `one` and 0 in the others.
fn solved(lower: &[Vec<f64>], one: usize) -> Vec<f64> {
    let mut found = vec![0.0; lower.len()];
    // Forward substitution, then backward.
    for (row, of_row) in lower.iter().enumerate() {
        let known: f64 = of_row.iter().zip(&found).take(row).map(|(cell, found)| cell * found).sum();
        found[row] = (f64::from(u8::from(row == one)) - known) / of_row[row];
    }
    for row in (0..lower.len()).rev() {
        let known: f64 = (row + 1..lower.len()).map(|at| lower[at][row] * found[at]).sum();
        found[row] = (found[row] - known) / lower[row][row];
    }
    found
}

fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for row in 0..matrix.len() {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| matrix[row][at] * matrix[column][at]).sum();
            let left = matrix[row][column] - known;
            matrix[row][column] = if row == column { left.sqrt() } else { left / matrix[column][column] };
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -1.0], vec![0.5, -1.0, 2.0]];
        let found = inverse(matrix.clone());
        for (a, row) in matrix.iter().enumerate() {
            for b in 0..3 {
                let product: f64 = row.iter().zip(&found).map(|(cell, other)| cell * other[b]).sum();
                assert!((product - f64::from(u8::from(a == b))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_inverse_of_an_empty_matrix_is_empty() {
        assert!(inverse(Vec::new()).is_empty());
    }
}
