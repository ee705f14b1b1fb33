import { isImageConfig } from '../../http-packages/index.ts';
import type { ManifestMetadata } from '../../http-packages/index.ts';
import type { FoundPackage, PackageVersionRow } from '../../packages/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewSize } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { PackagesDeps } from './deps.ts';
import { shortDigest } from './package-row.view.ts';
import { versionUrl } from './package-urls.ts';

/** The kind of an artifact that refers to an image, by its media type; the first matching pattern wins. */
const kinds: readonly [type: RegExp, kind: string][] = translated([
  [
    /cosign\S*(?:signature|simplesigning)|cosign\/sign\b|notary\S*signature|sigstore\.bundle|\.sig\b/i,
    'packages.image.is_signature',
  ],
  [/spdx|cyclonedx|syft|sbom/i, 'SBOM'],
  [/in-toto|attestation|slsa|\.att\b/i, 'packages.image.is_attestation'],
  [/helm\.chart/i, 'packages.image.helm_chart'],
]);

const kindOf = (type: string): string | null => kinds.find(([pattern]) => pattern.test(type))?.[1] ?? null;

const nameOf = (type: string | null): string =>
  type === null ? t('packages.image.is_artifact') : (kindOf(type) ?? viewName(type));

/** Sigstore bundles of signatures, SBOMs and other attestations have one media type; the predicate tells them apart. */
function kindOfArtifact({ artifactType, annotations }: ManifestMetadata): string | null {
  const predicate = annotations['dev.sigstore.bundle.predicateType'];
  return artifactType !== null && /sigstore\.bundle/i.test(artifactType) && predicate !== undefined
    ? (kindOf(predicate) ?? t('packages.image.is_attestation'))
    : artifactType === null
      ? null
      : kindOf(artifactType);
}

/** `application/vnd.oci.image.layer.v1.tar+gzip` as `layer, tar+gzip`. */
function layerKind(mediaType: string): string {
  const [, packed] = /(?:layer|diff)\.(?:v1\.)?(.+)$/.exec(mediaType) ?? [];
  return packed ?? viewName(mediaType);
}

/** Platforms, layers, labels, and referrers of an image. */
export async function viewImage(
  { packages, clock }: Pick<PackagesDeps, 'packages' | 'clock'>,
  found: FoundPackage,
  row: PackageVersionRow,
) {
  const image = JSON.parse(row.metadata) as ManifestMetadata;
  const { platforms, manifests, layers, labels, annotations, artifactType } = image;
  const cosign = `${row.version.replace(':', '-')}.`;
  const [referrers, tags] = await Promise.all([
    packages.versions.referrers(found, row.version),
    packages.tags.list(found, { after: cosign, limit: 10 }),
  ]);
  const now = clock.now();
  const attached = referrers.map(({ version, metadata, createdAt }) => {
    const artifact = JSON.parse(metadata) as ManifestMetadata;
    return {
      kind: kindOfArtifact(artifact) ?? nameOf(artifact.artifactType ?? artifact.mediaType),
      name: shortDigest(version),
      url: versionUrl(found, version),
      at: viewTime(createdAt, now),
    };
  });
  // The tag under which cosign stores signatures in registries without referrers.
  const byTag = tags
    .filter(({ name }) => name.startsWith(cosign))
    .map(({ name, updatedAt }) => ({
      kind: nameOf(name),
      name,
      url: versionUrl(found, name),
      at: viewTime(updatedAt, now),
    }));
  const facts = { ...labels, ...annotations };
  return {
    isArtifact: artifactType !== null && manifests.length === 0 && !isImageConfig(artifactType),
    kind: kindOfArtifact(image),
    platforms: manifests.length === 0 ? platforms.map((name) => ({ name: viewName(name), url: null, size: null })) : [],
    manifests: manifests.map(({ digest, size, platform }) => ({
      name:
        platform === null || platform === 'unknown/unknown' ? t('packages.image.is_attestation') : viewName(platform),
      digest: shortDigest(digest),
      url: versionUrl(found, digest),
      size: viewSize(size),
    })),
    layers: layers.map(({ digest, size, mediaType }) => ({
      digest: shortDigest(digest),
      kind: layerKind(mediaType),
      size: viewSize(size),
    })),
    attached: [...attached, ...byTag],
    labels: Object.entries(facts)
      .slice(0, 50)
      .map(([name, value]) => ({ name: viewName(name), value: viewName(value).slice(0, 500) })),
    description: facts['org.opencontainers.image.description'] ?? null,
    licence: facts['org.opencontainers.image.licenses'] ?? null,
    website: facts['org.opencontainers.image.url'] ?? null,
  };
}
