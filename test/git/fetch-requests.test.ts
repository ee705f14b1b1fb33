// What a request of a fetch or an archive may name: filters of partial clones, the number of objects, options.
import { PassThrough, Readable } from 'node:stream';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { gitSync, openGit } from './git-fixture.ts';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import { refusedArchiveArgument } from '../../src/git/fetches/archive-request.ts';
import { checkFilter } from '../../src/git/fetches/check-filter.ts';

const deps = await openGit(t, { limits: { maxRefs: 100 } });
const work = temporaryFolder(t);
const run = (...args: string[]) => gitSync(args, { cwd: work });
const repository = await deps.newRepository();
run('init', '--quiet', '--initial-branch=main');
const commitFile = (text: string) => {
  writeFileSync(path.join(work, 'patterns'), text);
  run('add', '.');
  run('commit', '--quiet', '--message=patterns');
  return { commit: run('rev-parse', 'HEAD'), blob: run('rev-parse', 'HEAD:patterns') };
};
const first = commitFile('docs\n');
run('push', '--quiet', repository, 'main');
const hidden = commitFile('secret\n');
run('push', '--quiet', repository, 'main:refs/hearth/hidden');

/** The response to a fetch with these lines, in version 2 or, as one request, in version 0. */
async function fetchWith(lines: readonly string[], version = 2): Promise<string> {
  const packets = lines.map((line) => encodePacket(`${line}\n`));
  const request =
    version === 2
      ? [
          encodePacket('command=fetch'),
          encodePacket('object-format=sha1'),
          Buffer.from('0001'),
          encodePacket('no-progress'),
          ...packets,
          encodePacket('done\n'),
          flushPacket,
        ]
      : [...packets, flushPacket, encodePacket('done\n')];
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { signal } = new AbortController();
  const input = Readable.from([Buffer.concat(request)], { objectMode: false });
  const protocol = version === 2 ? 'version=2' : null;
  await deps.git.transfers.uploadPack({ path: repository, protocol, input, output, stateless: true, signal });
  return Buffer.concat(chunks).toString('latin1');
}

t.test('filters: every kind that is served, in both versions', async (t) => {
  for (const version of [0, 2]) {
    const want = version === 2 ? `want ${first.commit}` : `want ${first.commit} filter ofs-delta`;
    for (const filter of [
      'blob:none',
      'blob:limit=1k',
      'object:type=commit',
      'tree:0',
      'combine:blob:none+tree:0',
      `sparse:oid=${first.blob}`,
    ]) {
      t.match(await fetchWith([want, `filter ${filter}`], version), /PACK/, `${filter} in version ${version}`);
    }
  }
});

t.test('SECURITY A06: a filter reads no blob that a fetch could not get', async (t) => {
  const absent = '1'.repeat(40);
  const withPatterns = (id: string) => [
    `sparse:oid=${id}`,
    `combine:tree:0+sparse:oid=${id}`,
    `combine:tree:0+sparse%3Aoid=${id}`,
    `combine:tree:0+%73parse:oid=${id}`,
  ];
  for (const version of [0, 2]) {
    const want = version === 2 ? `want ${first.commit}` : `want ${first.commit} filter ofs-delta`;
    for (const [index, filter] of withPatterns(hidden.blob).entries()) {
      const response = await fetchWith([want, `filter ${filter}`], version);
      t.match(response, new RegExp(`ERR upload-pack: not our ref ${hidden.blob}$`), `${filter} in version ${version}`);
      const other = await fetchWith([want, `filter ${withPatterns(absent)[index]!}`], version);
      t.equal(response.replace(hidden.blob, absent), other, 'hidden and absent answer the same');
    }
    for (const expression of ['refs/hearth/hidden:patterns', 'main:patterns', ':/patterns', hidden.blob.slice(0, 39)])
      t.match(
        await fetchWith([want, `filter sparse:oid=${expression}`], version),
        'ERR upload-pack: "sparse:oid=" needs a full object id',
        expression,
      );
  }
});

t.test('SECURITY I01: filters are short', (t) => {
  for (const [filter, refusal] of [
    [`combine:${'blob:none+'.repeat(8)}tree:0`, /at most 8/],
    [`blob:limit=${'0'.repeat(2_000)}`, /at most 1024 characters/],
    ['combine:tree:0+combine%3Ablob:none', /nested/],
    ['combine:tree:0+combine%253Ablob:none', /nested/],
    ['combine:tree:0+%zz', /well-formed/],
  ] as const)
    t.match(checkFilter(filter).refusal, refusal, filter.slice(0, 40));
  t.strictSame(checkFilter('combine:blob:none+tree:0'), { refusal: null, blobs: [] });
  t.end();
});

t.test('SECURITY I01: a request wants at most as many objects as a repository may have refs', async (t) => {
  const many = (count: number) => Array.from({ length: count }, () => `want ${first.commit}`);
  t.match(await fetchWith(many(100)), 'PACK');
  t.match(await fetchWith(many(101)), /ERR upload-pack: more than 100 objects are wanted in one request$/);
});

t.test('SECURITY A01: an archive gets only the options that a client needs', async (t) => {
  const request = (...args: string[]) =>
    Buffer.concat([...args.map((each) => encodePacket(`argument ${each}\n`)), flushPacket]);
  for (const args of [
    ['main'],
    ['--format=tar.gz', '--prefix=a/', '-9', '-v', 'main', 'docs'],
    ['--list'],
    ['main', '--', '--output'],
  ])
    t.equal(refusedArchiveArgument(request(...args)), null, args.join(' '));
  for (const option of [
    '--output=x',
    '-ox',
    '--add-file=/etc/passwd',
    '--exec=x',
    '--remote=.',
    '--worktree-attributes',
  ])
    t.equal(refusedArchiveArgument(request('--format=tar', option, 'main')), option);
  t.equal(refusedArchiveArgument(Buffer.concat([encodePacket('else main\n'), flushPacket])), 'else main');

  const archive = async (...args: string[]) => {
    const output = new PassThrough();
    const chunks: Buffer[] = [];
    output.on('data', (chunk: Buffer) => chunks.push(chunk));
    const input = new PassThrough();
    input.write(request(...args));
    const { signal } = new AbortController();
    const { exitCode } = await deps.git.transfers.uploadArchive({ path: repository, input, output, signal });
    return { exitCode, text: Buffer.concat(chunks).toString('latin1') };
  };
  t.match(await archive('--format=tar', 'main'), { exitCode: 0, text: /ACK[\s\S]*patterns/ });
  t.match(await archive('--format=tar', '--worktree-attributes', 'main'), {
    exitCode: 128,
    text: /^....NACK --worktree-attributes is not allowed here$/,
  });
});

t.test('a fetch from a repository that was moved to the trash meanwhile is refused as not found', async (t) => {
  const { signal } = new AbortController();
  for (const stateless of [true, false]) {
    const input = Readable.from([Buffer.concat([encodePacket(`want ${first.commit}\n`), flushPacket])]);
    const request = { path: `${repository}-gone`, input, output: new PassThrough(), stateless, signal };
    await t.rejects(deps.git.transfers.uploadPack(request), { code: 'not_found', reason: 'repository_not_found' });
  }
});
