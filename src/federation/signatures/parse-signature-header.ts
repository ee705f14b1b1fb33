import { unauthenticated } from '../../kernel/index.ts';

/** A parsed `Signature` header, not yet verified. */
export interface SignatureParameters {
  keyId: string;
  /** Unchanged; `null` if the header has none. */
  algorithm: 'rsa-sha256' | 'hs2019' | null;
  /** Names of the covered parts, lower case, in order. */
  covered: readonly string[];
  signature: Buffer;
  /** Seconds since the epoch. */
  created: number | null;
  expires: number | null;
}

const maxHeaderBytes = 8 * 1024;
const parameter = /([A-Za-z]{1,16})=(?:"([^"\\\x00-\x1f\x7f]*)"|(\d{1,15}))\s*(,\s*|$)/y;
const plainText = /^[^"\\\x00-\x1f\x7f]+$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const partName = /^(?:\((?:request-target|created|expires)\)|[a-z0-9][a-z0-9-]*)$/;

/** Every POST must cover these: without host or target a request could be replayed elsewhere. */
const required: readonly string[] = ['(request-target)', 'host', 'date', 'digest'];
const usualList = required.join(' ');

const malformed = (what: string) =>
  unauthenticated('signature_malformed', `The Signature header is malformed: ${what}.`);

/**
 * Parses a `Signature` header strictly, refusing everything that two parsers could interpret differently. Throws
 * `signature_malformed`, `signature_algorithm`, `signature_coverage`.
 */
export function parseSignatureHeader(header: string): SignatureParameters {
  return readUsual(header) ?? readAny(header);
}

/** Fast path for the usual form of the header; `null` for all others. */
function readUsual(header: string): SignatureParameters | null {
  if (header.length > maxHeaderBytes) return null;
  const parts = header.split('"', 10);
  if (parts.length !== 9) return null;
  const [first, keyId, second, algorithm, third, list, fourth, signature, rest] = parts as [string, ...string[]];
  if (
    first !== 'keyId=' ||
    second !== ',algorithm=' ||
    third !== ',headers=' ||
    fourth !== ',signature=' ||
    rest !== ''
  )
    return null;
  if (algorithm !== 'rsa-sha256' || list !== usualList || !plainText.test(keyId!)) return null;
  const bytes = Buffer.from(signature!, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== signature) return null;
  return { keyId: keyId!, algorithm, covered: required, signature: bytes, created: null, expires: null };
}

function readAny(header: string): SignatureParameters {
  const values = parseParameters(header);
  const text = (name: string): string | null => values.quoted.get(name) ?? null;
  for (const name of ['created', 'expires']) if (values.quoted.has(name)) throw malformed(`${name} is no number`);
  for (const name of values.numbers.keys()) {
    if (name !== 'created' && name !== 'expires') throw malformed(`${name} is not quoted`);
  }

  const keyId = text('keyid');
  const signature = text('signature');
  if (keyId === null || keyId === '' || signature === null) throw malformed('keyId or signature is missing');
  if (!base64.test(signature) || signature.length % 4 !== 0) throw malformed('the signature is not base64');
  const algorithm = parseAlgorithm(text('algorithm'));
  const parameters: SignatureParameters = {
    keyId,
    algorithm,
    covered: parseCovered(text('headers')),
    signature: Buffer.from(signature, 'base64'),
    created: values.numbers.get('created') ?? null,
    expires: values.numbers.get('expires') ?? null,
  };
  const usesTimes = parameters.covered.includes('(created)') || parameters.covered.includes('(expires)');
  if (usesTimes && algorithm === 'rsa-sha256') throw malformed('(created) and (expires) do not go with rsa-sha256');
  return parameters;
}

interface Parameters {
  quoted: Map<string, string>;
  numbers: Map<string, number>;
}

function parseParameters(header: string): Parameters {
  if (header.length > maxHeaderBytes) throw malformed('it is too long');
  const quoted = new Map<string, string>();
  const numbers = new Map<string, number>();
  let at = 0;
  let separator = ',';
  while (at < header.length) {
    parameter.lastIndex = at;
    const match = parameter.exec(header);
    if (match === null) throw malformed('it does not follow the grammar');
    const name = match[1]!.toLowerCase();
    // A duplicate name could make two parsers see different requests.
    if (quoted.has(name) || numbers.has(name)) throw malformed(`${name} is given twice`);
    if (match[2] !== undefined) quoted.set(name, match[2]);
    else numbers.set(name, Number(match[3]));
    at = parameter.lastIndex;
    separator = match[4]!;
  }
  if (separator !== '') throw malformed('it is empty or ends with a comma');
  return { quoted, numbers };
}

function parseAlgorithm(name: string | null): SignatureParameters['algorithm'] {
  if (name === null || name === 'rsa-sha256' || name === 'hs2019') return name;
  throw unauthenticated('signature_algorithm', 'The signature uses an algorithm other than rsa-sha256 or hs2019.');
}

function parseCovered(list: string | null): readonly string[] {
  // If omitted, it would mean `date` alone (draft-cavage §2.1.6), which is not enough.
  const covered = list === null ? [] : list.split(' ');
  if (covered.some((name) => !partName.test(name))) throw malformed('a covered header has no proper name');
  if (new Set(covered).size !== covered.length) throw malformed('a header is covered twice');
  const missing = required.filter((name) => !covered.includes(name));
  if (missing.length > 0)
    throw unauthenticated('signature_coverage', `The signature does not cover ${missing.join(', ')}.`);
  return covered;
}
