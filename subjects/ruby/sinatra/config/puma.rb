# Puma loads this file automatically.

persistent_timeout 120
