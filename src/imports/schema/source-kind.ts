/** The forges whose repositories are imported; Forgejo's API is Gitea's. */
export type SourceKind = 'gitea' | 'github' | 'gitlab';
