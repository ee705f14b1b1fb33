// stubWiki(folder, project, branch) → {bare, commit(files), tip()}: the repository of a wiki, as forges have it
// stubGit(bare) → {git(...args), commitFile(parent, content)}: commits with a file `notes.txt`, for stubs of forges
import { execFileSync } from 'node:child_process';
import { createBareRepository } from '../mirrors/remote-servers.ts';
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

export function stubWiki(folder: string, project: string, branch = 'main') {
  const bare = createBareRepository(folder, `${project}.wiki.git`, { isEmpty: true });
  const { git } = stubGit(bare);
  git('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
  let tip: string | null = null;
  return {
    bare,
    tip: () => tip,
    /** Replaces all pages by these. */
    commit(files: Readonly<Record<string, string>>): string {
      const lines = Object.entries(files).map(([name, content]) => {
        const oid = execFileSync('git', ['hash-object', '-w', '--stdin'], {
          cwd: bare,
          env: clientEnvironment,
          input: content,
          encoding: 'utf8',
        }).trim();
        return `100644 blob ${oid}\t${name}\n`;
      });
      const tree = execFileSync('git', ['mktree'], {
        cwd: bare,
        env: clientEnvironment,
        input: lines.join(''),
        encoding: 'utf8',
      }).trim();
      tip = git('commit-tree', ...(tip === null ? [] : ['-p', tip]), '-m', 'pages', tree);
      git('update-ref', `refs/heads/${branch}`, tip);
      return tip;
    },
  };
}
