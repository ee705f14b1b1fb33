// An armored block of several OpenPGP keys, as Gitea's page of a user has them: each becomes a block of its own.
import t from 'tap';
import { splitKeys } from '../../src/imports/sources/split-keys.ts';

const [begin, end] = ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '-----END PGP PUBLIC KEY BLOCK-----'];
const block = (bytes: Buffer, head = ''): string =>
  `${begin}\n${head}\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n=AbCd\n${end}`;
const bytesOf = (armored: string): Buffer => Buffer.from(armored.split('\n').slice(2, -2).join(''), 'base64');
/** A packet with a length of the new form in as few bytes as it needs. */
function packet(tag: number, length: number): Buffer {
  const body = Buffer.alloc(length, tag);
  if (length < 192) return Buffer.concat([Buffer.from([0xc0 | tag, length]), body]);
  if (length < 8_384)
    return Buffer.concat([Buffer.from([0xc0 | tag, ((length - 192) >> 8) + 192, (length - 192) & 0xff]), body]);
  const head = Buffer.from([0xc0 | tag, 255, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 2);
  return Buffer.concat([head, body]);
}
const old = (tag: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([0x80 | (tag << 2) | 1, length >> 8, length & 0xff]), Buffer.alloc(length, tag)]);

t.test('keys begin with their primary key, in every form of a length', async (t) => {
  const keys = [
    Buffer.concat([packet(6, 51), packet(13, 20), packet(2, 200)]),
    Buffer.concat([old(6, 300), old(13, 20), packet(14, 9_000), packet(2, 70)]),
    packet(6, 191),
    packet(6, 192),
  ];
  const all = splitKeys(block(Buffer.concat(keys), 'Comment: from a page\nNote: two lines\n'));
  t.equal(all.length, keys.length);
  for (const [at, key] of keys.entries()) t.ok(bytesOf(all[at]!).equals(key), `key ${at}`);
  t.strictSame(splitKeys(all[0]!), [all[0]], 'one key is its own block');
});

t.test('anything else is no key', async (t) => {
  const cut = packet(6, 51).subarray(0, 40);
  for (const text of [
    '',
    'no key',
    begin,
    `${end}\n${begin}`,
    block(Buffer.alloc(0), 'Note: none\n'),
    block(cut),
    block(Buffer.concat([packet(6, 51), Buffer.from([0xc6])])),
    block(Buffer.from([0xc6, 230, 1, 2, 3])),
    block(Buffer.from([0x9b, 1, 2, 3])),
    block(Buffer.from('plain')),
    block(packet(13, 10)),
  ])
    t.strictSame(splitKeys(text), [], text.slice(0, 80));
});
