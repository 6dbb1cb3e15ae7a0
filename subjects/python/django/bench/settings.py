"""The settings of `django-admin startproject`, without the admin, and with the database's driver."""

import os
from pathlib import Path

if os.environ["DATABASE_ENGINE"] == "postgres":
    ENGINE, OPTIONS = "django.db.backends.postgresql", {"connect_timeout": 2}
else:
    import pymysql

    # Django requires a minimum version of mysqlclient, which must be compiled. PyMySQL replaces it and reports that version.
    pymysql.version_info = (2, 2, 7, "final", 0)
    pymysql.install_as_MySQLdb()
    ENGINE, OPTIONS = "django.db.backends.mysql", {"connect_timeout": 2, "read_timeout": 5}

SECRET_KEY = "no session of this server is worth protecting"
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "bench.urls"
USE_TZ = True

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
if os.environ["MIDDLEWARE"] == "none":
    INSTALLED_APPS = MIDDLEWARE = []

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent.parent / "templates"],
    }
]

DATABASES = {
    "default": {
        "ENGINE": ENGINE,
        "HOST": os.environ["DATABASE_HOST"],
        "PORT": os.environ["DATABASE_PORT"],
        "NAME": os.environ["DATABASE_NAME"],
        "USER": os.environ["DATABASE_USER"],
        "PASSWORD": os.environ["DATABASE_PASSWORD"],
        "CONN_MAX_AGE": None,
        "OPTIONS": OPTIONS,
    }
}
