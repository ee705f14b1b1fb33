import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { sanitiseLine, maskControls } from '../../src/git/pushes/sanitise-text.ts';
import { encodePacket, flushPacket, maxPacketBytes, PacketReader } from '../../src/git/pkt-line.ts';
import { encodePushHeader, readPushHeader } from '../../src/git/pushes/push-header.ts';
import { ReportReader, ReportWriter } from '../../src/git/pushes/report-status.ts';
import { isBranchName, isWellFormedRef, refuseRef } from '../../src/git/refs/ref-name.ts';
import { errorWithReason, gitSync } from './git-fixture.ts';
import { packetLines } from './push-fixture.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const zero = '0'.repeat(40);
const some = 'a'.repeat(40);
const other = 'b'.repeat(40);

const command = (oldId: string, newId: string, ref: string, capabilities?: string) =>
  encodePacket(Buffer.from(`${oldId} ${newId} ${ref}${capabilities === undefined ? '' : `\0${capabilities}`}`));

function readHead(bytes: Buffer | Buffer[], { maxBytes = 1_000_000, quietMs = 1_000 } = {}) {
  return readPushHeader(Readable.from([bytes].flat()), { maxBytes, quietMs, signal: new AbortController().signal });
}

t.test('packets are parsed the same wherever the stream is split', async (t) => {
  const packets = [
    encodePacket('one\n'),
    flushPacket,
    encodePacket(''),
    Buffer.from('0001'),
    Buffer.from('0002'),
    encodePacket(Buffer.alloc(5_000, 7)),
  ];
  const whole = Buffer.concat(packets);
  for (const size of [1, 2, 3, 5, 4_096, whole.length]) {
    const reader = new PacketReader();
    const kinds: string[] = [];
    for (let at = 0; at < whole.length; at += size) {
      reader.push(whole.subarray(at, at + size));
      for (let packet = reader.next(); packet !== null; packet = reader.next()) {
        kinds.push(packet.kind === 'data' ? `data ${packet.data.length}` : packet.kind);
      }
    }
    t.same(kinds, ['data 4', 'flush', 'data 0', 'delimiter', 'end', 'data 5000'], `in chunks of ${size}`);
  }
});

t.test('a packet length that git would refuse is refused', async (t) => {
  for (const digits of ['0003', 'fff1', 'zzzz', '-001', '0x04', ' 004', 'ffff']) {
    const reader = new PacketReader();
    reader.push(Buffer.from(digits));
    t.throws(() => reader.next(), errorWithReason('bad_packet'), digits);
  }
  t.throws(() => encodePacket(Buffer.alloc(maxPacketBytes)), RangeError);
});

t.test('random bytes never crash the packet reader', async (t) => {
  const random = seededRandom(7);
  for (let round = 0; round < 2_000; round += 1) {
    const reader = new PacketReader();
    try {
      for (let chunk = 0; chunk < 4; chunk += 1) {
        reader.push(random.bytes(random.below(40)));
        if (random.chance(0.5)) reader.push(encodePacket('x'));
        while (reader.next() !== null);
      }
    } catch (error) {
      if ((error as { reason?: string }).reason !== 'bad_packet') throw error;
    }
  }
  t.pass('only clean refusals');
});

t.test(
  'the head of a push is parsed: commands, capabilities, shallow lines, options, and the pack behind it',
  async (t) => {
    const pack = Buffer.from('PACK…');
    const bytes = Buffer.concat([
      encodePacket(`shallow ${other}`),
      command(zero, some, 'refs/heads/main', ' report-status side-band-64k push-options agent=x'),
      command(some, zero, 'refs/heads/gone\n'),
      flushPacket,
      encodePacket('ci.skip\n'),
      encodePacket('topic=é'),
      flushPacket,
      pack,
    ]);
    for (const chunks of [[bytes], [...bytes].map((byte) => Buffer.from([byte]))]) {
      const head = await readHead(chunks);
      t.match(head, {
        updates: [
          { ref: 'refs/heads/main', oldId: zero, newId: some },
          { ref: 'refs/heads/gone', oldId: some, newId: zero },
        ],
        options: ['ci.skip', 'topic=é'],
      });
      t.ok(head!.capabilities.has('report-status'));
      t.same(Buffer.concat(head!.pack), pack.subarray(0, head!.packBytes), 'what came behind it is kept');
      t.same(
        packetLines(Buffer.concat([...encodePushHeader(head!, head!.updates)])),
        [
          `shallow ${other}`,
          `${zero} ${some} refs/heads/main\0 report-status side-band-64k push-options agent=x`,
          `${some} ${zero} refs/heads/gone`,
          'flush',
          'ci.skip',
          'topic=é',
          'flush',
        ],
        'git gets the same',
      );
      t.same(
        packetLines(Buffer.concat([...encodePushHeader(head!, head!.updates.slice(1))])).slice(0, 3),
        [
          `shallow ${other}`,
          `${some} ${zero} refs/heads/gone\0 report-status side-band-64k push-options agent=x`,
          'flush',
        ],
        'the capabilities stay when the first command does not',
      );
    }
  },
);

t.test('without the push-options capability no options are read', async (t) => {
  const head = await readHead(
    Buffer.concat([
      command(zero, some, 'refs/heads/main', 'report-status'),
      flushPacket,
      encodePacket('not an option'),
      flushPacket,
    ]),
  );
  t.same(head!.options, []);
});

t.test('a lone flush and an empty stream are no push', async (t) => {
  t.equal(await readHead(flushPacket), null);
  t.equal(await readHead([]), null);
});

t.test('a malformed push is refused with a reason', async (t) => {
  const cases: [string, Buffer][] = [
    ['bad_packet', Buffer.from('GET / HTTP/1.1\r\n')],
    ['bad_push', encodePacket('hello')],
    ['bad_push', encodePacket(`${some} ${other.slice(1)} refs/heads/x`)],
    ['bad_push', encodePacket(`${some.toUpperCase()} ${other} refs/heads/x`)],
    ['bad_push', encodePacket(`${some} ${'c'.repeat(64)} refs/heads/x`)],
    ['bad_push', encodePacket(`${some} ${other} `)],
    ['bad_push', command(zero, some, 'refs/heads/main', 'x')],
    ['bad_push', Buffer.concat([command(zero, some, 'refs/heads/main', 'x'), Buffer.from('0001')])],
    ['signed_push', encodePacket('push-cert\0report-status')],
  ];
  for (const [reason, bytes] of cases)
    await t.rejects(readHead(bytes), errorWithReason(reason), bytes.toString('latin1', 0, 60));
  await t.rejects(
    readHead(Buffer.concat(Array.from({ length: 50 }, (_, n) => command(zero, some, `refs/heads/${n}`))), {
      maxBytes: 1_000,
    }),
    errorWithReason('push_head_too_large'),
  );
  await t.rejects(
    readPushHeader(new PassThrough(), { maxBytes: 1_000, quietMs: 20, signal: new AbortController().signal }),
    errorWithReason('push_stalled'),
  );
});

t.test('a client that disconnects while its commands are read is noticed', async (t) => {
  const input = new PassThrough();
  const gone = new AbortController();
  const head = readPushHeader(input, { maxBytes: 1_000, quietMs: 10_000, signal: gone.signal });
  gone.abort(new Error('left'));
  await t.rejects(head, { message: 'left' });
});

t.test('ref names follow the rules of git check-ref-format', async (t) => {
  const parts = [
    'a',
    'A-b',
    '.a',
    'a.',
    'a..b',
    'a.lock',
    'a.lock.b',
    '@',
    '@{',
    'a@{1',
    '-a',
    'é',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    '\x7f',
    '\x01',
    '',
    'HEAD',
    'a]',
    '{',
    '#',
    "'",
    '$(x)',
    '%2e',
    'a@',
    '\u202e',
  ];
  const names = [
    ...parts.map((part) => `refs/tags/x${part}/${part}`),
    ...parts.slice(0, 8).map((part) => `refs/heads/${part}`),
    'main',
    'refs/',
    '/refs/a',
    'refs//a',
  ];
  for (const name of names) t.equal(isWellFormedRef(name), accepts(['check-ref-format', name]), JSON.stringify(name));
  for (const name of ['main', '-a', 'HEAD', 'a/HEAD', 'a..b', 'a b']) {
    t.equal(isBranchName(name), accepts(['check-ref-format', '--branch', name]), `branch ${name}`);
  }
});

function accepts(args: string[]): boolean {
  try {
    gitSync(args);
    return true;
  } catch {
    return false;
  }
}

t.test(
  'SECURITY A05: the ref policy has three writable namespaces, and no new name may look like an option',
  async (t) => {
    const refused = (name: string | Buffer, creates = true) => refuseRef(Buffer.from(name), creates);
    for (const fine of [
      'refs/heads/main',
      'refs/tags/v1',
      'refs/notes/commits',
      'refs/heads/a/b/c',
      'refs/heads/ünï',
      `refs/heads/${some.slice(1)}`,
      `refs/heads/${some}-x`,
    ]) {
      t.equal(refused(fine), null, fine);
    }
    for (const bad of [
      'HEAD',
      'refs/heads',
      'refs/stash',
      'refs/hearth/x',
      'refs/replace/x',
      'refs/pull/1/head',
      'refs/heads/',
      'refs/heads/a..b',
      '--upload-pack=x',
      'refs/heads/x\n',
      `refs/heads/${'x'.repeat(1_000)}`,
    ]) {
      t.type(refused(bad), 'string', bad);
    }
    t.match(refused(Buffer.concat([Buffer.from('refs/heads/'), Buffer.from([0xff])])), /UTF-8/);
    const ids = [some, some.toUpperCase(), 'b'.repeat(64)].flatMap((id) => [`refs/heads/${id}`, `refs/tags/${id}`]);
    for (const odd of ['refs/heads/-x', 'refs/tags/--exec=y', 'refs/heads/HEAD', ...ids]) {
      t.type(refused(odd), 'string', `${odd} is not made`);
      t.equal(refused(odd, false), null, `${odd} can be moved and removed where it exists`);
    }
  },
);

t.test('SECURITY C06: text for a client’s terminal has no control characters', async (t) => {
  t.equal(sanitiseLine('a\u001b[31mred\u0007\r\nnext\u009b2J\u0000 b'), 'a [31mred next 2J  b');
  const text = Buffer.from('50%\r\tok\u001b[2J\u009b1m\u007f\n');
  const length = text.length;
  maskControls(text);
  t.equal(text.toString(), '50%\r\tok?[2J??1m?\n');
  t.equal(text.length, length);
});

t.test('a refusal is encoded in the form that the client requested', async (t) => {
  const update = { ref: 'refs/heads/a', rawRef: 'refs/heads/a', oldId: zero, newId: some };
  const refusal = (capabilities: string[]) =>
    new ReportWriter(new Set(capabilities)).refusal([update], new Map([[update, 'no\u001bway\n']]));
  const plain = Buffer.concat([encodePacket('unpack ok\n'), encodePacket('ng refs/heads/a no way\n'), flushPacket]);
  t.same(await refusal(['report-status']), plain);
  t.same(
    await refusal(['report-status-v2', 'side-band-64k']),
    Buffer.concat([encodePacket(Buffer.concat([Buffer.from([1]), plain])), flushPacket]),
  );
  t.equal((await refusal([])).length, 0);
  t.same(await refusal(['side-band-64k']), flushPacket);
});

t.test('a report of ten thousand refs fits into packets and reads back', async (t) => {
  const updates = Array.from({ length: 10_000 }, (_, n) => {
    const ref = `refs/heads/branch-${n}`;
    return { ref, rawRef: ref, oldId: zero, newId: some };
  });
  const bytes = await new ReportWriter(new Set(['report-status', 'side-band-64k'])).refusal(
    updates,
    new Map(updates.map((update) => [update, 'no'])),
  );
  const reader = new ReportReader(true);
  t.equal(reader.push(bytes).length, 0, 'all of it is kept back');
  t.ok(reader.isComplete);
  t.same(reader.results(updates).at(-1), { ref: 'refs/heads/branch-9999', ok: false, reason: 'no' });
  t.same(reader.release(), bytes, 'and comes out unchanged');
});

t.test('parsing a report: progress passes, the report is held back, option lines are ignored', async (t) => {
  const rawUpdates = ['refs/heads/a', 'refs/heads/b', 'refs/heads/c'].map((ref) => ({
    ref,
    rawRef: ref,
    oldId: zero,
    newId: some,
  }));
  const report = Buffer.concat([
    encodePacket('unpack ok\n'),
    encodePacket('ok refs/heads/a\n'),
    encodePacket('option refname refs/heads/elsewhere\n'),
    encodePacket('ng refs/heads/b failed to update ref\n'),
    flushPacket,
  ]);
  const band = (number: number, data: Buffer | string) =>
    encodePacket(Buffer.concat([Buffer.from([number]), Buffer.from(data)]));
  const reader = new ReportReader(true);
  t.same(reader.push(band(2, 'Resolving\r')), band(2, 'Resolving\r'));
  // Split across packets of the side band, as git does with long reports.
  t.equal(reader.push(band(1, report.subarray(0, 20))).length, 0);
  t.notOk(reader.isComplete);
  t.equal(reader.push(Buffer.concat([band(1, report.subarray(20)), flushPacket])).length, 0);
  t.ok(reader.isComplete);
  t.same(reader.results(rawUpdates), [
    { ref: 'refs/heads/a', ok: true },
    { ref: 'refs/heads/b', ok: false, reason: 'failed to update ref' },
    { ref: 'refs/heads/c', ok: false, reason: 'git did not report on this ref' },
  ]);
  t.same(reader.release(), Buffer.concat([band(1, report.subarray(0, 20)), band(1, report.subarray(20)), flushPacket]));

  const plain = new ReportReader(false);
  t.equal(plain.push(report).length, 0);
  t.match(plain.results(rawUpdates), [{ ok: true }, { ok: false }, { ok: false }]);
  t.same(plain.release(), report);
});

t.test('messages of git show no path on the server, and do not call an object corrupt that is too large', async (t) => {
  const output = (...lines: string[]) => {
    const reader = new ReportReader(true);
    const bytes = lines.map((line) => reader.push(encodePacket(Buffer.from(`\x02${line}\n`))));
    const packets = new PacketReader();
    packets.push(Buffer.concat(bytes));
    let text = '';
    for (let packet = packets.next(); packet?.kind === 'data'; packet = packets.next())
      text += packet.data.toString('utf8', 1);
    return text;
  };
  const corrupt = `fatal: packed object ${some} (stored in /srv/hearth/repositories/a/b.git/objects/pack/pack-x.pack) is corrupt`;
  t.equal(output(corrupt), `fatal: packed object ${some} is corrupt\n`);
  t.equal(output(`before\n${corrupt}\nbehind`), `before\nfatal: packed object ${some} is corrupt\nbehind\n`);
  const tooLarge = 'error: attempting to allocate 209715201 over limit 134217728';
  t.equal(output(tooLarge, corrupt), `${tooLarge}\n`);
  t.equal(output(`${tooLarge}\n${corrupt}`), `${tooLarge}\n`);
});
