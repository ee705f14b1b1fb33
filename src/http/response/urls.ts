/** The page of a repository; comments abbreviate it to `B`. */
export const repositoryUrl = ({ owner, name }: { owner: string; name: string }): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** Its image: the URL changes with the bytes, so that browsers may cache it. */
export const repositoryImageUrl = (page: string, updatedAt: number | null): string =>
  `${page}/image?v=${updatedAt ?? 0}`;

/** The page of an owner: a user or an organisation. */
export const ownerUrl = ({ kind, handle }: { kind: 'user' | 'organisation'; handle: string }): string =>
  kind === 'user' ? personUrl(handle) : organisationUrl(handle);

export const teamUrl = (organisation: string, team: string): string =>
  `${organisationUrl(organisation)}/teams/${encodeURIComponent(team)}`;

export const organisationUrl = (name: string): string => `/orgs/${encodeURIComponent(name)}`;

export const personUrl = (username: string): string => `/users/${encodeURIComponent(username)}`;
