import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BaseSystems } from './executables.ts';
import { architectures, run } from './release-in-progress.ts';
import type { Release } from './release-in-progress.ts';
import { sumOf } from './signature.ts';
import { tar } from './tar.ts';

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

/**
 * Writes an image for all processors as an archive of an OCI image layout (image-spec 1.1), without a container engine:
 * a layer with Debian, a layer with Hearth. It runs as user 1000 with /data as its volume.
 * @param options.files has the executables
 */
export async function makeImage(
  release: Release,
  options: { baseSystems: BaseSystems; files: string; output: string },
): Promise<void> {
  const { version, seconds, workFolder, commit } = release;
  const layout = join(workFolder, 'image');
  const blobs = join(layout, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const store = async (mediaType: string, content: Uint8Array | string): Promise<Descriptor> => {
    const bytes = Buffer.from(content as string);
    const sum = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(blobs, sum), bytes);
    return { mediaType, digest: `sha256:${sum}`, size: bytes.length };
  };
  const labels = {
    'org.opencontainers.image.title': 'Hearth',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.licenses': 'MIT',
  };

  const manifests = [];
  for (const { node, container } of architectures) {
    const base = options.baseSystems.files[container];
    const executable = await readFile(join(options.files, `hearth-${version}-linux-${node}`));
    const own = ownLayer(executable, await authorities(base), seconds);
    const layers = [await storeLayer(blobs, base, workFolder), await store(mediaTypes.layer, gzipSync(own))];
    const config = await store(
      mediaTypes.config,
      JSON.stringify({
        created: new Date(seconds * 1000).toISOString(),
        architecture: container,
        os: 'linux',
        config: { ...settings, Labels: labels },
        rootfs: {
          type: 'layers',
          diff_ids: [`sha256:${await sumOf(base)}`, `sha256:${createHash('sha256').update(own).digest('hex')}`],
        },
        history: ['Debian', 'Hearth'].map((name) => ({
          created: new Date(seconds * 1000).toISOString(),
          created_by: name,
        })),
      }),
    );
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers, annotations: labels };
    const descriptor = await store(mediaTypes.manifest, JSON.stringify(manifest));
    manifests.push({ ...descriptor, platform: { architecture: container, os: 'linux' } });
  }
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations: labels };
  const descriptor = await store(mediaTypes.index, JSON.stringify(index));
  // The names that `podman load` and `docker load` give it: compose.yaml and kubernetes.yaml use them.
  const names = {
    'org.opencontainers.image.ref.name': `hearth:${version}`,
    'io.containerd.image.name': `docker.io/library/hearth:${version}`,
  };
  const named = { ...descriptor, annotations: names };
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(
    join(layout, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [named] }),
  );
  const same = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--format=ustar'];
  await run('tar', [...same, '--mode=u=rwX,go=rX', '-cf', options.output, '-C', layout, '.']);
  await rm(layout, { recursive: true });
}

/** How a container of it starts. `Healthcheck` is no part of the OCI's format; engines that do not know it leave it. */
const settings = {
  User: '1000:1000',
  Env: [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...['SERVICE_DATA_DIR=/data', 'HOME=/data'],
    ...['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=65536', 'MALLOC_TRIM_THRESHOLD_=131072'],
  ],
  Entrypoint: ['/usr/bin/tini', '--', 'hearth'],
  Cmd: ['serve'],
  WorkingDir: '/data',
  Volumes: { '/data': {} },
  ExposedPorts: { '3000/tcp': {}, '2222/tcp': {}, '3001/tcp': {} },
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', 'hearth', 'health'],
    Interval: 30e9,
    Timeout: 5e9,
    StartPeriod: 30e9,
    Retries: 3,
  },
};

/** Hearth, its user, and what the scripts of packages would have made. */
function ownLayer(executable: Uint8Array, certificates: Uint8Array, seconds: number): Buffer {
  const text = (lines: string[]) => Buffer.from(`${lines.join('\n')}\n`);
  const users = ['root:x:0:0::/:/bin/sh', 'hearth:x:1000:1000::/data:/usr/sbin/nologin'];
  const groups = ['root:x:0:', 'hearth:x:1000:'];
  return tar(
    [
      { name: 'data/', mode: 0o700, owner: 1000 },
      { name: 'etc/group', mode: 0o644, content: text(groups) },
      { name: 'etc/passwd', mode: 0o644, content: text(users) },
      { name: 'etc/ssl/certs/ca-certificates.crt', mode: 0o644, content: certificates },
      { name: 'tmp/', mode: 0o1777 },
      { name: 'usr/local/bin/hearth', mode: 0o755, content: executable },
    ],
    seconds,
  );
}

/** The bundle that `update-ca-certificates` would write. */
async function authorities(base: string): Promise<Buffer> {
  const pattern = '*usr/share/ca-certificates/mozilla/*.crt';
  return Buffer.from(`${await run('tar', ['-xOf', base, '--wildcards', pattern])}\n`);
}

async function storeLayer(blobs: string, archive: string, workFolder: string): Promise<Descriptor> {
  const copy = join(workFolder, 'layer.tar');
  await copyFile(archive, copy);
  await run('gzip', ['-n', '-6', '-f', copy]);
  const sum = await sumOf(`${copy}.gz`);
  const { size } = await stat(`${copy}.gz`);
  await rename(`${copy}.gz`, join(blobs, sum));
  return { mediaType: mediaTypes.layer, digest: `sha256:${sum}`, size };
}
