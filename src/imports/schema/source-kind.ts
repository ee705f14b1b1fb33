/** The forges from which repositories can be imported; Forgejo's API is Gitea's. */
export type SourceKind = 'gitea' | 'github' | 'gitlab';
