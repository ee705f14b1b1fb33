const place = /\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.git(\/wiki\.git)?$/;

/**
 * The repository that a path represents, wherever its folder would be: at its owner's or in the trash. Null for a path
 * that does not belong to a repository: a scratch folder, or a copy in a backup.
 * @param roots folders of repositories
 */
export function storedIdOf(path: string, roots: readonly string[]): string | null {
  if (!roots.some((root) => path.startsWith(`${root}/`))) return null;
  const [, id, wiki] = place.exec(path) ?? [];
  return id === undefined ? null : wiki === undefined ? id : `${id}.wiki`;
}
