/**
 * Format of an import folder: `dump` as written by `dump-repo` of Gitea and Forgejo; `plain` as converted from
 * archives of GitHub and exports of GitLab.
 */
export type FileFormat = 'dump' | 'plain';
