import { unauthenticated } from '../../kernel/index.ts';

/** A parsed pair of `Signature-Input` and `Signature` (RFC 9421), not yet verified. */
export interface MessageSignature {
  keyId: string;
  algorithm: MessageAlgorithm;
  signature: Buffer;
  /** The signature base (RFC 9421 §2.5): the text that is signed. */
  base: string;
  /** Seconds since the epoch. */
  created: number;
  expires: number | null;
}

/** For RSA keys, which actors have. */
type MessageAlgorithm = 'rsa-v1_5-sha256' | 'rsa-pss-sha512';

/** The parts of a request that components refer to. */
interface MessageParts {
  method: string;
  /** Path and query as in the request line. */
  target: string;
  /** `https://git.example.org`: from the base URL, never from a proxy's header. */
  origin: string;
  /** Values by lower-case header name; repeated headers are joined with `, `. */
  headers: ReadonlyMap<string, string>;
}

const maxHeaderBytes = 8 * 1024;
const maxComponents = 32;
const refused = (why: string) => unauthenticated('signature_rfc9421', `The RFC 9421 signature cannot be used: ${why}.`);

/** `label=` with an inner list of plain names and its parameters: one signature, as ActivityPub servers send it. */
const inputShape = /^([a-z*][a-z0-9_.*-]{0,63})=(\(([^()]*)\)((?:;[a-z*][a-z0-9_.*-]{0,63}=(?:"[^"\\]*"|\d{1,15}))*))$/;
const itemShape = /^"([@a-z0-9-]{1,100})"$/;
const parameterShape = /;([a-z*][a-z0-9_.*-]{0,63})=(?:"([^"\\]*)"|(\d{1,15}))/y;
const valueShape = /^([a-z*][a-z0-9_.*-]{0,63})=:([A-Za-z0-9+/]+={0,2}):$/;
const printable = /^[\x20-\x7e]*$/;

/**
 * Parses one RFC 9421 signature strictly and builds its base. Refuses everything that two parsers could interpret
 * differently: several signatures, and repeated, parameterised or unknown components.
 *
 * The signature must cover the method, the target (with the host) and the content digest: without one of them a request
 * could be replayed elsewhere or with another body. Throws `signature_rfc9421`.
 */
export function readMessageSignature(parts: MessageParts): MessageSignature {
  const [input, value] = [parts.headers.get('signature-input') ?? '', parts.headers.get('signature') ?? ''];
  if (input.length > maxHeaderBytes || value.length > maxHeaderBytes) throw refused('it is too long');
  if (!printable.test(input)) throw refused('Signature-Input has characters that are not ASCII');
  const [, label, parameterText, list = '', rest = ''] = inputShape.exec(input.trim()) ?? [];
  const [, valueLabel, encoded = ''] = valueShape.exec(value.trim()) ?? [];
  if (label === undefined) throw refused('Signature-Input is not one list of components with its parameters');
  if (valueLabel !== label) throw refused('the Signature header has no value under the same label');
  const signature = Buffer.from(encoded, 'base64');
  if (signature.toString('base64') !== encoded) throw refused('the signature is not base64');

  const covered = readComponents(list);
  const parameters = readParameters(rest);
  const text = (name: string): string | null => parameters.quoted.get(name) ?? null;
  const keyId = text('keyid');
  const created = parameters.numbers.get('created');
  if (keyId === null || keyId === '') throw refused('it names no keyid');
  if (created === undefined) throw refused('it does not say when it was created');
  const algorithm = text('alg') ?? 'rsa-v1_5-sha256';
  if (algorithm !== 'rsa-v1_5-sha256' && algorithm !== 'rsa-pss-sha512') throw refused('it uses another algorithm');
  return {
    keyId,
    algorithm,
    signature,
    base: signatureBase(covered, parameterText!, parts),
    created,
    expires: parameters.numbers.get('expires') ?? null,
  };
}

function readComponents(list: string): string[] {
  const items = list === '' ? [] : list.split(' ');
  if (items.length > maxComponents) throw refused('it covers too many components');
  const covered = items.map((item) => itemShape.exec(item)?.[1]);
  if (covered.some((name) => name === undefined)) throw refused('a component has parameters or an unusual name');
  const names = covered as string[];
  if (new Set(names).size !== names.length) throw refused('a component is covered twice');
  const has = (...wanted: string[]): boolean => wanted.every((name) => names.includes(name));
  const coversTarget =
    has('@target-uri') || ((has('@authority') || has('host')) && (has('@request-target') || has('@path', '@query')));
  if (!has('@method') || !coversTarget || !has('content-digest'))
    throw refused('it has to cover @method, @target-uri and content-digest');
  return names;
}

function readParameters(text: string): { quoted: Map<string, string>; numbers: Map<string, number> } {
  const quoted = new Map<string, string>();
  const numbers = new Map<string, number>();
  for (let at = 0; at < text.length; at = parameterShape.lastIndex) {
    parameterShape.lastIndex = at;
    const [, name, words, digits] = parameterShape.exec(text) ?? [];
    if (name === undefined) throw refused('its parameters do not follow the grammar');
    if (quoted.has(name) || numbers.has(name)) throw refused(`${name} is given twice`);
    if (words !== undefined) quoted.set(name, words);
    else numbers.set(name, Number(digits));
  }
  for (const name of ['keyid', 'alg', 'nonce', 'tag']) if (numbers.has(name)) throw refused(`${name} is not a string`);
  for (const name of ['created', 'expires']) if (quoted.has(name)) throw refused(`${name} is not a number`);
  return { quoted, numbers };
}

/**
 * The signature base (RFC 9421 §2.5): one line per component, then the parameters as received. Throws
 * `signature_rfc9421` for a missing component.
 */
export function signatureBase(covered: readonly string[], parameterText: string, parts: MessageParts): string {
  const lines = covered.map((name) => `"${name}": ${componentValue(name, parts)}`);
  return [...lines, `"@signature-params": ${parameterText}`].join('\n');
}

function componentValue(name: string, { method, target, origin, headers }: MessageParts): string {
  const query = target.indexOf('?');
  switch (name) {
    case '@method':
      return method;
    case '@target-uri':
      return origin + target;
    case '@authority':
      return new URL(origin).host;
    case '@scheme':
      return new URL(origin).protocol.slice(0, -1);
    case '@request-target':
      return target;
    case '@path':
      return query === -1 ? target : target.slice(0, query);
    case '@query':
      return query === -1 ? '?' : target.slice(query);
    default: {
      const value = name.startsWith('@') ? undefined : headers.get(name);
      if (value === undefined) throw refused(`the covered component ${name} is not there`);
      return value.trim();
    }
  }
}
