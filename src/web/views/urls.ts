/** The page of a repository (web-ui: `B`). */
export const repositoryUrl = ({ owner, name }: { owner: string; name: string }): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

export const personUrl = (username: string): string => `/users/${encodeURIComponent(username)}`;
