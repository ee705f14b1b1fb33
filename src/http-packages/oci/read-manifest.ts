import { invalid } from '../../kernel/index.ts';
import type { Digest } from '../../packages/index.ts';
import { readDigest } from '../../packages/index.ts';

/** A part of an image that a manifest references. */
export interface Descriptor {
  digest: string;
  size: number;
  mediaType: string;
  /** Content on another server, which need not be here. */
  isForeign: boolean;
}

/** The parts of a manifest that this server needs; its bytes are stored unchanged. */
export interface Manifest {
  mediaType: string;
  /** Config and layers, which are blobs. */
  blobs: Descriptor[];
  /** Manifests of an index. */
  manifests: (Descriptor & { platform: string | null })[];
  config: Descriptor | null;
  subject: Digest | null;
  artifactType: string | null;
  annotations: Record<string, string>;
}

const dockerList = 'application/vnd.docker.distribution.manifest.list.v2+json';
const index = 'application/vnd.oci.image.index.v1+json';
const image = 'application/vnd.oci.image.manifest.v1+json';
const emptyType = 'application/vnd.oci.empty.v1+json';

const bad = (message: string) => invalid('package_manifest', message);
type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const maxDescriptors = 10_000;

/**
 * Parses a manifest of an image, an index or an artifact (OCI Image Specification 1.1), or of Docker's schema 2. Throws
 * `package_manifest`.
 * @param contentType as sent by the client
 */
export function readManifest(bytes: Buffer, contentType: string): Manifest {
  const parsed = parse(bytes);
  const sent = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const { mediaType: written } = parsed;
  if (written !== undefined && typeof written !== 'string') throw bad('The media type of this manifest is no text.');
  if (written !== undefined && sent !== '' && written.toLowerCase() !== sent)
    throw bad(`This manifest says that it is ${written}, but it was sent as ${sent}.`);
  const mediaType = written ?? (sent === '' ? (Array.isArray(parsed['manifests']) ? index : image) : sent);
  if (parsed['schemaVersion'] !== 2) throw bad('Only manifests of schema version 2 are stored here.');
  const isIndex =
    mediaType === index ||
    mediaType === dockerList ||
    (parsed['layers'] === undefined && Array.isArray(parsed['manifests']));
  const config = isIndex || parsed['config'] === undefined ? null : readDescriptor(parsed['config'], 'config');
  const subject = parsed['subject'] === undefined ? null : readDescriptor(parsed['subject'], 'subject');
  const annotations = isObject(parsed['annotations']) ? parsed['annotations'] : {};
  const artifactType = parsed['artifactType'] ?? (config?.mediaType === emptyType ? null : config?.mediaType) ?? null;
  return {
    mediaType,
    config,
    blobs: isIndex
      ? []
      : [...(config === null ? [] : [config]), ...list(parsed['layers'] ?? parsed['blobs'], 'layers')],
    manifests: isIndex
      ? list(parsed['manifests'], 'manifests').map((one, at) => ({
          ...one,
          platform: platformOf((parsed['manifests'] as unknown[])[at]),
        }))
      : [],
    subject: subject === null ? null : readDigest(subject.digest),
    artifactType: typeof artifactType === 'string' ? artifactType : null,
    annotations: Object.fromEntries(
      Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  };
}

function parse(bytes: Buffer): Json {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    parsed = null;
  }
  if (!isObject(parsed)) throw bad('A manifest is a JSON object.');
  return parsed;
}

function list(value: unknown, name: string): Descriptor[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > maxDescriptors) throw bad(`The ${name} of this manifest are no list.`);
  return value.map((one) => readDescriptor(one, name));
}

function readDescriptor(value: unknown, name: string): Descriptor {
  if (!isObject(value)) throw bad(`The ${name} of this manifest has an entry that is no descriptor.`);
  const { digest, size, mediaType = 'application/octet-stream', urls } = value;
  if (typeof digest !== 'string' || readDigest(digest) === null) throw bad(`A digest in the ${name} is none.`);
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw bad(`A size in the ${name} is none.`);
  if (typeof mediaType !== 'string') throw bad(`A media type in the ${name} is no text.`);
  const isForeign = (Array.isArray(urls) && urls.length > 0) || /nondistributable|\.foreign\./.test(mediaType);
  return { digest, size, mediaType, isForeign };
}

/** `linux/arm64/v8`; null without one. */
function platformOf(descriptor: unknown): string | null {
  const platform = isObject(descriptor) ? descriptor['platform'] : null;
  if (!isObject(platform)) return null;
  const parts = [platform['os'], platform['architecture'], platform['variant']];
  return parts.filter((part) => typeof part === 'string' && part !== '').join('/') || null;
}
