// stubGit(bare) → {git(...args), commitFile(parent, content)}: commits with a file `notes.txt`, for stubs of forges
import { execFileSync } from 'node:child_process';
import { clientEnvironment } from '../git/git-fixture.ts';

export function stubGit(bare: string) {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: bare, env: clientEnvironment, encoding: 'utf8' }).trim();

  /** A commit with a file of ten lines on top of another one. */
  function commitFile(parent: string, content: string): string {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: bare,
      env: clientEnvironment,
      input: content,
      encoding: 'utf8',
    }).trim();
    const tree = execFileSync('git', ['mktree'], {
      cwd: bare,
      env: clientEnvironment,
      input: `100644 blob ${blob}\tnotes.txt\n`,
      encoding: 'utf8',
    }).trim();
    return git('commit-tree', '-p', parent, '-m', 'a change', tree);
  }

  return { git, commitFile };
}
