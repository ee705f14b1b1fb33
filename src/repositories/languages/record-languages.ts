import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { languageCountSchema, repositoryLanguageSchema } from '../schema/language-schema.ts';
import { readAttributes } from './read-attributes.ts';
import { mainLanguages } from './language-statistics.ts';

/** Limit of counted files; in larger repositories the first files are a sample. */
const maxCountedFiles = 100_000;

/** Records the main languages of the default branch of the repository at `path`, as of `countedAt`. */
export async function recordLanguages(
  { db, git }: Pick<RepositoryDeps, 'db' | 'git'>,
  id: string,
  path: string,
  countedAt: number,
): Promise<void> {
  const { oid } = await git.refs.head(path);
  const known = await db.read.findOneBy(languageCountSchema, { repositoryId: id });
  const isKnown = known !== null && known.commitId === oid;
  const files =
    isKnown || oid === null ? [] : (await git.queries.listFiles(path, oid, { limit: maxCountedFiles })).files;
  const languages = mainLanguages(files, await readAttributes(git, path, files));
  await db.write(async ({ manager }) => {
    if (!(await manager.existsBy(repositorySchema, { id }))) return;
    await manager.upsert(languageCountSchema, { repositoryId: id, commitId: oid, countedAt }, ['repositoryId']);
    if (isKnown) return;
    await manager.delete(repositoryLanguageSchema, { repositoryId: id });
    for (const [position, language] of languages.entries())
      await manager.insert(repositoryLanguageSchema, { repositoryId: id, position, language });
  });
}
