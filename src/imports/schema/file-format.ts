/** How a folder of an import is written: `dump` as by `dump-repo` of Gitea and Forgejo. */
export type FileFormat = 'dump';
