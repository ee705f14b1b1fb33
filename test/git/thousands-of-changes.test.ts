// A long file with a change in every fifth line, for which git's histogram algorithm takes minutes: its changes still
// arrive as a patch.
import t from 'tap';
import { gitSync, openGit } from './git-fixture.ts';

t.test('SECURITY I05: thousands of changes in a file are sent as a diff and as a mail', async (t) => {
  const deps = await openGit(t);
  const path = await deps.newRepository();
  const make = (args: string[], input?: string) =>
    gitSync(args, { cwd: path, ...(input === undefined ? {} : { input }) });
  const lines = 180_000;
  const text = (round: number) =>
    Array.from({ length: lines }, (_, n) => `line ${n}${n % 5 < round ? ' changed' : ''}\n`).join('');
  let commit = '';
  for (const round of [0, 1]) {
    const blob = make(['hash-object', '-w', '--stdin'], text(round));
    const tree = make(['mktree'], `100644 blob ${blob}\tlong.txt\n`);
    commit = make(['commit-tree', tree, '-m', `Round ${round}`, ...(commit === '' ? [] : ['-p', commit])]);
  }
  const { parents } = await deps.git.objects.commit(path, commit);
  const streams = [
    await deps.git.queries.plainDiff(path, { from: parents[0]!, to: commit }),
    await deps.git.queries.mailPatch(path, commit),
  ];
  for (const stream of streams) {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const removed =
      Buffer.concat(chunks)
        .toString()
        .match(/^-line/gm) ?? [];
    t.equal(removed.length, lines / 5);
  }
});
