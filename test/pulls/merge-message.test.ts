import t from 'tap';
import { addressesOf, coAuthorsOf, defaultMessages, formatMessage } from '../../src/pulls/merging/merge-message.ts';

const commitBy = (email: string, message: string) =>
  ({ commit: { author: { name: email.split('@')[0]!, email, at: 0, offsetMinutes: 0 }, message } }) as never;
const people = new Map([
  ['alice@example.org', { id: 'A' }],
  ['alice@work.example.org', { id: 'A' }],
  ['1+alice@noreply.example.org', { id: 'A' }],
  ['bob@example.org', { id: 'B' }],
  ['bob@work.example.org', { id: 'B' }],
]);
const author = { email: '1+alice@noreply.example.org', personId: 'A' };

t.test('a squash compares people by account', async (t) => {
  const commits = [
    commitBy('alice@example.org', 'One'),
    commitBy('alice@work.example.org', 'Two'),
    commitBy('bob@example.org', 'Three'),
    commitBy('bob@work.example.org', 'Four'),
    commitBy('Carol@example.org', 'Five'),
    commitBy('carol@example.org', 'Six'),
  ];
  const [bob, carol] = ['Co-authored-by: bob <bob@example.org>', 'Co-authored-by: Carol <Carol@example.org>'];
  t.strictSame(coAuthorsOf(commits, author, people, ''), [bob, carol]);
  t.strictSame(coAuthorsOf(commits, author, people, 'Text\n\nCo-authored-by: B <bob@work.example.org>'), [carol]);
  t.strictSame(coAuthorsOf(commits.slice(0, 2), author, people, ''), []);
});

t.test('trailers of squashed commits are gathered once each, in the last paragraph', async (t) => {
  const commits = [
    commitBy('alice@example.org', 'One\n\nText: of it\nis no trailer.'),
    commitBy(
      'alice@example.org',
      'Two\n\nBody.\n\nCo-authored-by: carol <carol@example.org>\nSigned-off-by: alice <alice@example.org>',
    ),
    commitBy('alice@example.org', 'Three\n\nsigned-off-by: alice <alice@example.org>\nChange-Id: I1\nFixes: abc\n (x)'),
    commitBy('bob@example.org', 'Four\n\nCo-authored-by: alice <alice@work.example.org>'),
  ];
  t.strictSame(addressesOf(commits).includes('carol@example.org'), true);
  const issue = { title: 'Change', number: 7, authorId: 'A' };
  const { body } = defaultMessages(issue, { baseBranch: 'main' }, 'topic', commits, 'main', people).SQUASH;
  const text = formatMessage({ title: 'Change', body }, coAuthorsOf(commits, author, people, body));
  const paragraphs = text.split('\n\n');
  t.equal(
    paragraphs.at(-1),
    [
      'Co-authored-by: carol <carol@example.org>',
      'Signed-off-by: alice <alice@example.org>',
      'Fixes: abc\n (x)',
      'Co-authored-by: bob <bob@example.org>',
    ].join('\n'),
  );
  t.match(text, '* Two\n\n  Body.'.replace('\n\n  ', '\n  \n  '));
});
