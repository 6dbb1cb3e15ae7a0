# Puma reads this file by itself.

persistent_timeout 120
