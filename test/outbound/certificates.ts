// makeAuthority(name) → a certificate authority of the test's own: its PEM, and issue({names, addresses, days?}) →
// {key, cert}.
// Written in DER by hand, because Node reads certificates but cannot make them.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

interface Authority {
  pem: string;
  issue(subject: { names?: string[]; addresses?: string[] /** Negative: expired so long ago. */; days?: number }): {
    key: string;
    cert: string;
  };
}

const tlv = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const size =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: Buffer[]): Buffer => tlv(0x30, ...parts);
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Buffer): Buffer => tlv(0x04, content);
const bits = (content: Buffer, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), content);
const time = (at: number): Buffer => tlv(0x18, Buffer.from(new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')));
const commonName = (name: string): Buffer => sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))));
const sha256WithRsa = sequence(oid('2a864886f70d01010b'), tlv(0x05));
const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), octets(value));

interface Wanted {
  issuer: string;
  subject: string;
  publicKey: KeyObject;
  signedBy: KeyObject;
  days: number;
  extensions: Buffer[];
}

function certificate({ issuer, subject, publicKey, signedBy, days, extensions }: Wanted): string {
  const end = Date.now() + days * 86_400_000;
  const serial = randomBytes(8);
  serial[0] = 0x01;
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    sha256WithRsa,
    commonName(issuer),
    sequence(time(Math.min(Date.now(), end) - 86_400_000), time(end)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  );
  const der = sequence(body, sha256WithRsa, bits(sign('RSA-SHA256', body, signedBy)));
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
}

export function makeAuthority(name = 'Test Authority'): Authority {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = certificate({
    issuer: name,
    subject: name,
    publicKey: keys.publicKey,
    signedBy: keys.privateKey,
    days: 30,
    extensions: [
      extension('551d13', true, sequence(tlv(0x01, Buffer.from([0xff])))),
      extension('551d0f', true, bits(Buffer.from([0x06]), 1)),
    ],
  });
  return {
    pem,
    issue({ names = [], addresses = [], days = 30 }) {
      const leaf = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const alternatives = [
        ...names.map((text) => tlv(0x82, Buffer.from(text))),
        ...addresses.map((address) => tlv(0x87, Buffer.from(address.split('.').map(Number)))),
      ];
      const cert = certificate({
        issuer: name,
        subject: names[0] ?? addresses[0] ?? 'nobody',
        publicKey: leaf.publicKey,
        signedBy: keys.privateKey,
        days,
        extensions: [extension('551d11', false, sequence(...alternatives))],
      });
      return { key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert };
    },
  };
}
