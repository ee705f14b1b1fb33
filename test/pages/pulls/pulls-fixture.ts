// pullWork(t, path) → commits for pull requests in a bare repository: {commit(branch, files, message, from?)}, which
// makes a branch without a push, {objects(files, message, from)}, which makes a commit alone.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';

export async function pullWork(t: Owner, bare: string) {
  const work = temporaryFolder(t);
  const git = async (...args: string[]): Promise<string> => (await runGit(args, { cwd: work })).trim();
  await git('clone', '--quiet', bare, '.');
  const make = async (files: Record<string, string>, message: string, from: string): Promise<string> => {
    await git('checkout', '--quiet', '--detach', from);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
      writeFileSync(path.join(work, name), content);
    }
    await git('add', '.');
    await git('commit', '--quiet', '-m', message);
    return git('rev-parse', 'HEAD');
  };
  return {
    /** Commits on top of a branch or commit, and gives the branch to the repository behind the server's back. */
    async commit(branch: string, files: Record<string, string>, message: string, from = 'origin/main') {
      const oid = await make(files, message, from);
      await git('push', '--quiet', '--force', bare, `HEAD:refs/heads/${branch}`);
      await git('fetch', '--quiet');
      return oid;
    },
    /** A commit whose objects the repository has, and no ref. */
    async objects(files: Record<string, string>, message: string, from: string) {
      const oid = await make(files, message, from);
      await runGit(['fetch', '--quiet', work, oid], { cwd: bare });
      return oid;
    },
  };
}
