"""MariaDB: a private server of the programs that are installed, through PyMySQL."""
