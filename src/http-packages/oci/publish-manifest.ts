import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import { findNamedBlob, hasVersion, readDigest } from '../../packages/index.ts';
import type { NewFile, PackageRow, PublishTarget } from '../../packages/index.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { readManifest } from './read-manifest.ts';
import type { Descriptor, Manifest } from './read-manifest.ts';

/** Metadata of a version of a container image. */
export interface ManifestMetadata {
  mediaType: string;
  /** Size of the manifest itself, in bytes. */
  size: number;
  artifactType: string | null;
  annotations: Record<string, string>;
  /** Labels of the config, if it is that of an image. */
  labels: Record<string, string>;
  /** `linux/amd64`; for an index, those of its manifests. */
  platforms: string[];
  /** Manifests of an index. */
  manifests: { digest: string; size: number; platform: string | null }[];
  layers: { digest: string; size: number; mediaType: string }[];
}

/** A manifest as sent by a client. */
interface ReceivedManifest {
  bytes: Buffer;
  digest: string;
  tags: readonly string[];
  contentType: string;
  /** Host name by which clients know this server. */
  origin: string;
}

/**
 * Publishes a manifest as a version with everything that it references, and moves its tags. Throws `package_manifest`,
 * and `package_manifest_blob_missing` if a referenced blob or manifest is not in the package.
 */
export async function publishManifest(
  deps: PackageHttpDeps,
  viewer: Viewer,
  to: PublishTarget,
  { bytes, digest, tags, contentType, origin }: ReceivedManifest,
): Promise<{ subject: string | null }> {
  const { packages } = deps;
  const manifest = readManifest(bytes, contentType);
  const config = await readConfig(deps, to, manifest);
  const blob = await packages.blobs.receive(to.owner.id, oneChunk(bytes));
  const files: NewFile[] = [
    { name: 'manifest', sha256: blob.sha256, bytes: blob.bytes, hashes: blob.hashes, mediaType: manifest.mediaType },
  ];
  const subject = manifest.subject === null ? null : `${manifest.subject.algorithm}:${manifest.subject.hex}`;
  const metadata: ManifestMetadata = {
    mediaType: manifest.mediaType,
    size: bytes.length,
    artifactType: manifest.artifactType,
    annotations: manifest.annotations,
    labels: config.labels,
    platforms: config.platform === null ? platformsOf(manifest) : [config.platform],
    manifests: manifest.manifests.map(({ digest: of, size, platform }) => ({ digest: of, size, platform })),
    layers: manifest.blobs
      .slice(manifest.config === null ? 0 : 1)
      .map(({ digest: of, size, mediaType }) => ({ digest: of, size, mediaType })),
  };
  await packages.versions.publish(viewer, to, {
    version: digest,
    metadata,
    subject,
    files,
    tags,
    existing: 'keep',
    source: readSource(config.labels[sourceLabel] ?? manifest.annotations[sourceLabel], origin),
    check: async (tx, row) => {
      // The content that a manifest references becomes part of the version, and is kept with it.
      files.push(...(await partsOf(tx, row, manifest)));
    },
  });
  return { subject };
}

/** The repository of this server in a URL: as used by pages, git and `go get`. */
function readSource(text: string | undefined, origin: string): { owner: string; name: string } | null {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null || url.host !== new URL(origin).host) return null;
  const [, owner, name] = /^(?:\/(?:repos|git))?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(url.pathname) ?? [];
  return owner === undefined || name === undefined ? null : { owner, name };
}

const sourceLabel = 'org.opencontainers.image.source';

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const platformsOf = ({ manifests }: Manifest): string[] => [
  ...new Set(manifests.flatMap(({ platform }) => (platform === null ? [] : [platform]))),
];

async function partsOf({ manager }: Tx, row: PackageRow, manifest: Manifest): Promise<NewFile[]> {
  const parts = new Map<string, NewFile>();
  for (const descriptor of manifest.blobs) {
    const found = await findNamedBlob(manager, row, readDigest(descriptor.digest)!);
    if (found === null && descriptor.isForeign) continue;
    if (found === null) throw partMissing(descriptor);
    if (found.bytes !== descriptor.size)
      throw invalid('package_manifest', `${descriptor.digest} has ${found.bytes} bytes, not ${descriptor.size}.`);
    const { sha256, bytes } = found;
    parts.set(sha256, { name: descriptor.digest, sha256, bytes, mediaType: descriptor.mediaType });
  }
  for (const descriptor of manifest.manifests)
    if (!(await hasVersion(manager, row.id, descriptor.digest))) throw partMissing(descriptor);
  return [...parts.values()];
}

const partMissing = ({ digest }: Descriptor) =>
  invalid(
    'package_manifest_blob_missing',
    `This manifest names ${digest}, which is not in the package. Push it first.`,
  );

/** Whether a media type is that of an image config, which container engines run. */
export const isImageConfig = (mediaType: string): boolean =>
  /^application\/vnd\.(?:oci\.image\.config|docker\.container\.image)\.v1\+json$/.test(mediaType);

const maxConfigBytes = 1024 * 1024;

/** The platform and the labels in an image config; empty for any other content. */
async function readConfig(
  { packages }: PackageHttpDeps,
  to: PublishTarget,
  { config }: Manifest,
): Promise<{ platform: string | null; labels: Record<string, string> }> {
  const nothing = { platform: null, labels: {} };
  const digest = config === null ? null : readDigest(config.digest);
  if (digest?.algorithm !== 'sha256' || !isImageConfig(config!.mediaType) || config!.size > maxConfigBytes)
    return nothing;
  const stored = await packages.blobs.content(to.owner.id, digest.hex, maxConfigBytes);
  if (stored === null) return nothing;
  try {
    const { os, architecture, variant, config: run } = JSON.parse(stored.toString('utf8')) as Record<string, unknown>;
    const parts = [os, architecture, variant].filter((part) => typeof part === 'string' && part !== '');
    const labels = (run as { Labels?: Record<string, unknown> } | null | undefined)?.Labels ?? {};
    return {
      platform: parts.length < 2 ? null : parts.join('/'),
      labels: Object.fromEntries(
        Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ),
    };
  } catch {
    return nothing;
  }
}
