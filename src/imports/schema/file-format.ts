/**
 * How a folder of an import is written: `dump` as by `dump-repo` of Gitea and Forgejo, `plain` as archives of GitHub
 * and exports of GitLab become when they are taken.
 */
export type FileFormat = 'dump' | 'plain';
