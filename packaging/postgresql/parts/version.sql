create table queue_version (
    version_num varchar(32) not null constraint queue_version_pkc primary key
);
insert into queue_version (version_num) values ('@REVISION@');
