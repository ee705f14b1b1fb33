// What addresses of other forges name: issues, pull requests, commits, pages and attached files, and what is none.
import t from 'tap';
import { parseSourceLink } from '../../src/imports/links/parse-source-link.ts';
import type { LinkSource } from '../../src/imports/links/parse-source-link.ts';
import { fileAt, filesIn } from '../../src/imports/links/source-files.ts';

const gitea: LinkSource = { kind: 'gitea', url: 'https://git.example.org/bob/tool', project: 'bob/tool' };
const below: LinkSource = { kind: 'gitea', url: 'https://example.org/code/bob/tool', project: 'bob/tool' };
const github: LinkSource = { kind: 'github', url: 'https://github.com/bob/tool', project: 'bob/tool' };
const gitlab: LinkSource = {
  kind: 'gitlab',
  url: 'https://gitlab.example.org/team/tools/app',
  project: 'team/tools/app',
};
const oid = 'a'.repeat(39) + '1';
const issue = (numbered: string, number: number, entry: string | null = null, part: string | null = null) => ({
  ...{ kind: 'issue', numbered, number, entry, part },
});
const page = (path: string, end = '') => ({ kind: 'page', segments: path.split('/'), end });

const rows: readonly (readonly [LinkSource, address: string, project: string, link: object])[] = [
  [gitea, 'https://git.example.org/bob/tool/issues/7', 'bob/tool', issue('issue', 7)],
  [gitea, 'http://git.example.org/Bob/Tool/issues/7', 'Bob/Tool', issue('issue', 7)],
  [gitea, 'https://git.example.org/bob/tool/pulls/8/files', 'bob/tool', issue('pull', 8, null, 'changes')],
  [gitea, 'https://git.example.org/bob/tool/issues/7#issuecomment-12', 'bob/tool', issue('issue', 7, 'comment:12')],
  [gitea, 'https://git.example.org/carol/other/issues/1', 'carol/other', issue('issue', 1)],
  [gitea, `https://git.example.org/bob/tool/commit/${oid}`, 'bob/tool', { kind: 'commit', oid }],
  [
    gitea,
    'https://git.example.org/bob/tool/src/branch/main/a%20b.md#L3-L9',
    'bob/tool',
    page('src/branch/main/a%20b.md', '#L3-L9'),
  ],
  [gitea, 'https://git.example.org/bob/tool/releases/tag/v1', 'bob/tool', page('releases/tag/v1')],
  [gitea, 'https://git.example.org/bob/tool/wiki/Home', 'bob/tool', page('wiki/Home')],
  [gitea, 'https://git.example.org/bob/tool/issues', 'bob/tool', page('issues')],
  [below, 'https://example.org/code/bob/tool/issues/7', 'bob/tool', issue('issue', 7)],
  [github, 'https://github.com/bob/tool/pull/8#pullrequestreview-5', 'bob/tool', issue('pull', 8, 'review:5')],
  [
    github,
    'https://www.github.com/bob/tool/blob/main/src/a.ts?plain=1#L3C1-L9C4',
    'bob/tool',
    page('blob/main/src/a.ts', '#L3-L9'),
  ],
  [
    gitlab,
    'https://gitlab.example.org/team/tools/app/-/issues/7#note_3',
    'team/tools/app',
    issue('issue', 7, 'comment:3'),
  ],
  [gitlab, 'https://gitlab.example.org/team/tools/app/-/work_items/7', 'team/tools/app', issue('issue', 7)],
  [gitlab, 'https://gitlab.example.org/team/tools/app/merge_requests/2', 'team/tools/app', issue('pull', 2)],
  [
    gitlab,
    'https://gitlab.example.org/team/tools/app/-/merge_requests/2/diffs',
    'team/tools/app',
    issue('pull', 2, null, 'changes'),
  ],
  [gitlab, 'https://gitlab.example.org/team/other/-/merge_requests/2', 'team/other', issue('pull', 2)],
  [
    gitlab,
    'https://gitlab.example.org/team/tools/app/-/blob/main/a.md#L3-9',
    'team/tools/app',
    page('blob/main/a.md', '#L3-L9'),
  ],
  [gitlab, 'https://gitlab.example.org/team/tools/app/-/wikis/home', 'team/tools/app', page('wiki/home')],
  [gitlab, 'https://gitlab.example.org/team/tools/app/-/releases/v1', 'team/tools/app', page('releases/tag/v1')],
];

t.test('addresses of another forge name what is here', (t) => {
  for (const [source, address, project, link] of rows)
    t.strictSame(parseSourceLink(source, address), { project, link }, address);
  t.end();
});

t.test('addresses that name nothing that came along', (t) => {
  const none: readonly (readonly [LinkSource, string])[] = [
    [gitea, 'https://elsewhere.example.org/bob/tool/issues/7'],
    [gitea, 'https://git.example.org:8443/bob/tool/issues/7'],
    [gitea, 'https://git.example.org/bob/tool'],
    [gitea, 'https://git.example.org/bob'],
    [gitea, 'https://git.example.org/bob/tool/issues/0'],
    [gitea, 'https://git.example.org/bob/tool/issues/new'],
    [gitea, 'https://git.example.org/bob/tool/issues/7/edit'],
    [gitea, 'https://git.example.org/bob/tool/settings'],
    [gitea, 'https://git.example.org/bob/tool/commit/main'],
    [gitea, 'https://git.example.org/%E0%A4/tool/issues/7'],
    [gitea, 'ftp://git.example.org/bob/tool/issues/7'],
    [gitea, 'javascript:alert(1)'],
    [below, 'https://example.org/bob/tool/issues/7'],
    [gitlab, 'https://gitlab.example.org/team/other/merge_requests/2'],
    [gitlab, 'https://gitlab.example.org/-/profile'],
    [gitlab, 'https://gitlab.example.org/team/tools/app/-/pipelines/7'],
  ];
  for (const [source, address] of none) t.equal(parseSourceLink(source, address), null, address);
  t.end();
});

t.test('attached files are found in texts, each once, and never at another server', (t) => {
  const id = '11111111-2222-3333-4444-555555555555';
  const hash = '0123456789abcdef0123456789abcdef';
  const table: readonly (readonly [LinkSource, text: string, files: object[]])[] = [
    [
      gitea,
      `![a](/attachments/${id}) and <img src="https://git.example.org/attachments/${id}">`,
      [{ key: `attachments/${id}`, name: '' }],
    ],
    [gitea, `![a](https://git.example.org/bob/tool/attachments/${id})`, [{ key: `attachments/${id}`, name: '' }]],
    [gitea, `![a](https://elsewhere.example.org/attachments/${id})`, []],
    [gitea, `![a](/attachments/${id}0)`, []],
    [below, `![a](https://example.org/code/attachments/${id})`, [{ key: `attachments/${id}`, name: '' }]],
    [gitlab, `![a](/uploads/${hash}/a%20b.png){width=9}`, [{ key: `uploads/${hash}`, name: 'a b.png' }]],
    [gitlab, `![a](/uploads/${hash}/)`, []],
    [gitlab, `https://elsewhere.example.org/uploads/${hash}/a.png`, []],
    [
      github,
      `https://github.com/user-attachments/assets/${id} <img src="https://user-images.githubusercontent.com/1/x.png"> https://github.com/bob/tool/files/12/a.pdf`,
      [
        { key: `https://github.com/user-attachments/assets/${id}`, name: id },
        { key: 'https://user-images.githubusercontent.com/1/x.png', name: 'x.png' },
        { key: 'https://github.com/bob/tool/files/12/a.pdf', name: 'a.pdf' },
      ],
    ],
    [github, `https://github.example.org/user-attachments/assets/${id}`, []],
  ];
  for (const [source, text, files] of table) t.strictSame(filesIn(source, text), files, text);
  t.equal(
    filesIn(
      gitea,
      Array.from(
        { length: 300 },
        (_, at) => `/attachments/${String(at).padStart(8, '0')}-2222-3333-4444-555555555555`,
      ).join(' '),
    ).length,
    100,
  );
  t.equal(fileAt(gitea, `attachments/${'x'.repeat(3_000)}`), null);
  t.end();
});
