//! PHP's extension pdo_mysql, which may be missing although PHP is installed.

use super::*;

/// A PHP that lists `own`, and those requested extensions whose file contains `good`.
fn program_php(lab: &Lab, path: &str, own: &str) {
    let script = r#"case "$*" in
    *-i) %INFO% ;;
    *-m) for name in %OWN%; do echo $name; done
        for word; do
            file=${word#extension=}
            if test "$word" = "$file"; then continue; fi
            if grep -q good $file; then basename $file .so; else echo "Warning: Unable to load $file"; fi
        done ;;
    esac"#;
    lab.program(path, &script.replace("%INFO%", PHP_INFO).replace("%OWN%", own));
}

fn extra<'a>(program: &'a Program, name: &str) -> &'a Path {
    Path::new(&program.extras[name])
}

#[test]
fn php_without_it_is_ready_and_its_driver_is_missing_with_the_command() {
    let lab = Lab::new();
    lab.program("bin/apt-get", "exit 0");
    program_php(&lab, "bin/php-fpm8.2", "Core");
    lab.ready("php_fpm");
    let (reason, remedy) = lab.missing("php_fpm_mysql");
    let expect = "bin/php-fpm8.2 8.2.36 is here, without PHP's extension pdo_mysql";
    assert!(reason.contains(expect), "{reason}");
    assert_eq!(remedy, Remedy::ByHand { command: "sudo apt-get install php-mysql".to_owned() });

    let lab = Lab::debian();
    program_php(&lab, "bin/php-fpm8.2", "Core");
    let remedy = lab.missing("php_fpm_mysql").1.to_string();
    assert_eq!(remedy, "tolok setup php_fpm_mysql (Debian package php-mysql)");
    let plan = lab.toolbox().plan(&["php_fpm_mysql"]).unwrap();
    assert!(plan.steps[0].commands[1].ends_with("--download-only install php-mysql"), "{plan}");
}

#[test]
fn a_part_of_a_program_that_is_not_there_is_missing() {
    let lab = Lab::debian();
    let (reason, _) = lab.missing("php_fpm_mysql");
    assert_eq!(reason, "it is a part of php_fpm, which cannot be used here itself");
    lab.program("bin/php-fpm", "exit 1");
    assert_eq!(lab.missing("php_fpm_mysql").0, reason);
}

#[test]
fn its_files_are_found_beside_php_or_in_the_toolbox() {
    let lab = Lab::new();
    program_php(&lab, "bin/php-fpm8.2", "Core");
    lab.write("system/usr/lib/php/20220829/pdo.so", "good");
    for name in ["mysqlnd", "pdo_mysql"] {
        lab.write(&format!("toolbox/root/usr/lib/php/20220829/{name}.so"), "good");
    }
    let part = lab.ready("php_fpm_mysql");
    assert_eq!(extra(&part, "pdo"), lab.path("system/usr/lib/php/20220829/pdo.so"));
    assert_eq!(extra(&part, "mysqlnd"), lab.path("toolbox/root/usr/lib/php/20220829/mysqlnd.so"));
    assert_eq!(extra(&part, "pdo_mysql"), lab.path("toolbox/root/usr/lib/php/20220829/pdo_mysql.so"));
    assert_eq!((part.version.as_str(), part.path.as_path()), ("8.2.36", extra(&part, "pdo_mysql")));

    lab.write("system/usr/lib/php/20220829/pdo_mysql.so", "good");
    let part = lab.ready("php_fpm_mysql");
    assert_eq!(
        extra(&part, "pdo_mysql"),
        lab.path("system/usr/lib/php/20220829/pdo_mysql.so"),
        "PHP's own is preferred"
    );
}

#[test]
fn a_php_of_the_toolbox_takes_from_the_system_what_apt_did_not_fetch_again() {
    let lab = Lab::new();
    lab.write("system/usr/share/zoneinfo/UTC", "");
    program_php(&lab, "toolbox/root/usr/sbin/php-fpm8.2", "Core");
    for name in ["mysqlnd", "pdo_mysql"] {
        lab.write(&format!("toolbox/root/usr/lib/php/20220829/{name}.so"), "good");
    }
    for name in ["pdo", "pdo_pgsql"] {
        lab.write(&format!("system/usr/lib/php/20220829/{name}.so"), "good");
    }
    let part = lab.ready("php_fpm_mysql");
    assert_eq!(extra(&part, "pdo"), lab.path("system/usr/lib/php/20220829/pdo.so"));
    assert_eq!(extra(&part, "pdo_mysql"), lab.path("toolbox/root/usr/lib/php/20220829/pdo_mysql.so"));
    assert_eq!(lab.ready("php_fpm_pgsql").path, lab.path("system/usr/lib/php/20220829/pdo_pgsql.so"));
}

#[test]
fn what_php_has_by_itself_is_not_loaded_again() {
    let lab = Lab::new();
    program_php(&lab, "bin/php-fpm8.2", "Core PDO mysqlnd pdo_mysql");
    lab.write("system/usr/lib/php/20220829/pdo.so", "good");
    let part = lab.ready("php_fpm_mysql");
    assert!(part.extras.values().all(String::is_empty), "{part:?}");
}

#[test]
fn a_file_that_php_does_not_take_is_broken() {
    let lab = Lab::new();
    program_php(&lab, "bin/php-fpm8.2", "Core");
    lab.write("system/usr/lib/php/20220829/pdo_mysql.so", "bad");
    let seen = lab.broken("php_fpm_mysql");
    let expect = "bin/php-fpm8.2 does not load PHP's extension pdo_mysql: Core Warning: Unable to load";
    assert!(seen.contains(expect), "{seen}");
}

#[test]
fn mod_php_is_not_asked_and_its_files_decide() {
    let lab = Lab::new();
    lab.program("bin/apache2", "echo 'Server version: Apache/2.4.71 (Debian)'");
    lab.write("system/usr/lib/apache2/modules/mod_mpm_prefork.so", "");
    lab.write("system/usr/lib/apache2/modules/libphp8.2.so", LIBPHP);
    lab.write("system/usr/lib/php/20220829/pdo.so", "");
    assert!(lab.missing("apache_mysql").0.contains("bin/apache2 2.4.71 is here, without PHP's extension pdo_mysql"));
    lab.write("system/usr/lib/php/20220829/pdo_mysql.so", "");
    let part = lab.ready("apache_mysql");
    assert_eq!(extra(&part, "pdo_mysql"), lab.path("system/usr/lib/php/20220829/pdo_mysql.so"));
    assert_eq!((part.version.as_str(), part.extras["mysqlnd"].as_str()), ("8.2.36", ""), "mysqlnd may be built in");
}
