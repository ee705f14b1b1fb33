// A commit in one line: its subject with emoji, its time with the zone of its author.
import t from 'tap';
import { viewCommitLine } from '../../../src/pages/code/commit-line.view.ts';

const person = { name: 'alice', email: 'alice@example.org', at: Date.UTC(2026, 10, 28, 13, 6), offsetMinutes: 540 };
const author = { name: 'alice', url: null, title: null };
const line = (message: string) =>
  viewCommitLine(
    {
      oid: 'a'.repeat(40),
      tree: 'b'.repeat(40),
      parents: [],
      author: person,
      committer: person,
      message,
      subject: message.split('\n', 1)[0]!,
      signature: null,
      changeId: null,
    } as never,
    '/repos/alice/garden',
    person.at,
    { of: () => author as never },
  );

t.test('short codes of a subject become emoji; other colons and the body stay', async (t) => {
  for (const [subject, shown] of [
    [':tada: First', '🎉 First'],
    ['Ship it :rocket:', 'Ship it 🚀'],
    ['a::b :no_such_code: 10:20:30', 'a::b :no_such_code: 10:20:30'],
    ['https://example.org/:tada:/x', 'https://example.org/:tada:/x'],
    [':constructor: :__proto__:', ':constructor: :__proto__:'],
  ] as const) {
    const { subject: view, body } = line(`${subject}\n\n:tada: here`);
    t.equal(view, shown);
    t.equal(body, ':tada: here');
  }
  t.equal(line(`${'x'.repeat(300)}`).subject.length <= 300, true);
  t.equal(line('One').at.title, '28 Nov 2026, 22:06 +09:00');
});
