// pushModules(server) → repositories of alice with Go modules of every kind, the same commits at every run:
// lib (a module with folders, vendor, links, attributes, v2 on a branch and v3 in a folder), old (without go.mod),
// Upper, v2 (a name like a version), bad (no modules), closed (private).
import { runGit } from '../fixtures/git-repositories.ts';
import type { PackageServer } from './package-server.ts';

export const host = 'git.example.org';
export const module = `${host}/alice`;

type Files = Readonly<Record<string, string | { mode: string; content: string }>>;

interface Step {
  branch?: string;
  /** The whole tree. */
  files: Files;
  /** Names; those that begin with `*` are annotated. */
  tags?: readonly string[];
}

const link = (content: string) => ({ mode: '120000', content });
const goMod = (path: string, more = 'go 1.20\n'): string => `module ${module}/${path}\n\n${more}`;

const lib: Files = {
  'go.mod': goMod('lib'),
  'lib.go': 'package lib\n\nconst One = 1\n',
  LICENSE: 'a licence\n',
  'run.sh': { mode: '100755', content: '#!/bin/sh\n' },
  link: link('lib.go'),
  'folder-link': link('sub'),
  '.gitattributes': 'left-out.txt export-ignore\nstamp.txt export-subst\n*.bat text eol=crlf\nid.txt ident\n',
  'left-out.txt': 'not in archives of git\n',
  'stamp.txt': 'commit $Format:%H$\n',
  'id.txt': '$Id$\n',
  'dos.bat': 'one\ntwo\n',
  'Ünï/ñ.go': 'package u\n',
  'vendor/modules.txt': '# example.org/dep v1.0.0\n',
  'vendor/example.org/dep/dep.go': 'package dep\n',
  'inner/vendor/vendor.go': 'package vendor\n',
  'inner/vendor/deep/deep.go': 'package deep\n',
  'longer-inner/vendor/vendor.go': 'package vendor\n',
  'sub/go.mod': goMod('lib/sub'),
  'sub/sub.go': 'package sub\n',
  'sub/deep/deep.go': 'package deep\n',
  'own/go.mod': goMod('lib/own'),
  'own/LICENSE': 'its own licence\n',
  'own/own.go': 'package own\n',
  'linked/go.mod': link('../go.mod'),
  'linked/linked.go': 'package linked\n',
};

const repositories: Readonly<Record<string, readonly Step[]>> = {
  lib: [
    { files: { 'lib.go': 'package lib\n', LICENSE: 'a licence\n' }, tags: ['v0.1.0'] },
    { files: lib, tags: ['v1.0.0', '*sub/v0.1.0', 'own/v1.0.0', 'v1', 'v1.0', 'nightly', 'v1.0.1+meta'] },
    {
      files: { ...lib, 'go.mod': goMod('lib', 'go 1.24.0\n'), 'sub/v2/go.mod': goMod('lib/sub/v2') },
      tags: ['*v1.2.0', 'v1.2.0-rc.1', 'v1.2.0-rc.10', 'v1.2.0-rc.2', 'sub/v2.0.0', 'sub/v1.0.0'],
    },
    {
      files: { ...lib, 'go.mod': goMod('lib', 'retract v1.9.0 // too early\nretract [v1.3.0, v1.4.0]\n') },
      tags: ['v1.9.0', 'v1.3.0', 'v1.9.1-0.20200101000000-abcdefabcdef'],
    },
    { branch: 'two', files: { ...lib, 'go.mod': goMod('lib/v2') }, tags: ['v2.0.0', 'v2.1.0-beta'] },
    {
      branch: 'three',
      files: { ...lib, 'v3/go.mod': goMod('lib/v3'), 'v3/three.go': 'package lib\n' },
      tags: ['v3.0.0'],
    },
    { files: { ...lib, 'lib.go': 'package lib\n\nconst One = 2\n' } },
  ],
  old: [
    { files: { 'old.go': 'package old\n' }, tags: ['v1.0.0'] },
    { files: { 'old.go': 'package old\n\nconst Two = 2\n' }, tags: ['v2.0.0', 'v2.1.0'] },
    { files: { 'old.go': 'package old\n', 'go.mod': goMod('old/v3') }, tags: ['v3.0.0'] },
    { branch: 'late', files: { 'old.go': 'package old // late\n' } },
  ],
  Upper: [{ files: { 'go.mod': goMod('Upper'), 'u.go': 'package upper\n' }, tags: ['v1.0.0', 'v1.1.0-RC1'] }],
  v2: [{ files: { 'go.mod': goMod('v2'), 'v.go': 'package v2\n' }, tags: ['v2.0.0', 'v1.0.0'] }],
  bad: [
    { files: { 'go.mod': goMod('bad'), 'a.go': 'package a\n', 'A.go': 'package a\n' }, tags: ['v1.0.0'] },
    { files: { 'go.mod': goMod('bad'), 'a:b.go': 'package a\n' }, tags: ['v1.0.1'] },
    { files: { 'go.mod': goMod('bad/v2'), 'a.go': 'package a\n' }, tags: ['v1.0.2'] },
    { files: { 'GO.MOD': goMod('bad'), 'a.go': 'package a\n' }, tags: ['v1.0.3'] },
    { files: { 'go.mod': 'no module\n', 'a.go': 'package a\n' }, tags: ['v1.0.4'] },
  ],
  closed: [{ files: { 'go.mod': goMod('closed'), 'c.go': 'package closed\n' }, tags: ['v1.0.0'] }],
};

/** What `git fast-import` reads. */
function stream(steps: readonly Step[]): string {
  const out: string[] = [];
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  for (const [at, { branch = 'main', files, tags = [] }] of steps.entries()) {
    const when = `Alice <alice@example.org> ${1_600_000_000 + at * 86_400} +0200`;
    out.push(`commit refs/heads/${branch}\ncommitter ${when}\n${data(`step ${at}\n`)}`);
    // A branch begins at the commit before it.
    if (branch !== 'main') out.push('from refs/heads/main\n');
    out.push('deleteall\n');
    for (const [path, file] of Object.entries(files)) {
      const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file;
      out.push(`M ${mode} inline "${path}"\n${data(content)}`);
    }
    out.push('\n');
    for (const tag of tags)
      out.push(
        tag.startsWith('*')
          ? `tag ${tag.slice(1)}\nfrom refs/heads/${branch}\ntagger ${when}\n${data('a release\n')}`
          : `reset refs/tags/${tag}\nfrom refs/heads/${branch}\n\n`,
      );
  }
  return out.join('');
}

export async function pushModules(server: PackageServer): Promise<void> {
  for (const [name, steps] of Object.entries(repositories)) {
    if (name !== 'closed') await server.newRepository(name);
    const path = await server.pathOf(name);
    const from = `${server.folder}/${name}`;
    await runGit(['init', '-q', '--bare', from], { cwd: server.folder });
    await runGit(['fast-import', '--quiet'], { cwd: from, input: stream(steps) });
    await runGit(['push', '-q', '--mirror', server.url(name, server.tokens.alice)], { cwd: from });
    await server.app.modules.git.maintenance.pack(path);
  }
}
