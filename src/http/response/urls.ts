/** The page of a repository; comments write `B` for it. */
export const repositoryUrl = ({ owner, name }: { owner: string; name: string }): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** Its image: the address changes with the bytes, so that browsers may keep them. */
export const repositoryImageUrl = (page: string, updatedAt: number | null): string =>
  `${page}/image?v=${updatedAt ?? 0}`;

/** The page of an owner, a person or an organisation. */
export const ownerUrl = ({ kind, handle }: { kind: 'user' | 'organisation'; handle: string }): string =>
  kind === 'user' ? personUrl(handle) : organisationUrl(handle);

export const teamUrl = (organisation: string, team: string): string =>
  `${organisationUrl(organisation)}/teams/${encodeURIComponent(team)}`;

export const organisationUrl = (name: string): string => `/orgs/${encodeURIComponent(name)}`;

export const personUrl = (username: string): string => `/users/${encodeURIComponent(username)}`;
