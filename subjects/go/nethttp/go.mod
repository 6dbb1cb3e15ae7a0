module nethttp

go 1.22
