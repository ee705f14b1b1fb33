import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { internal } from '../kernel/index.ts';
import type { UploadDeps } from './upload-pack.ts';

export interface AdvertiseRequest {
  path: string;
  service: 'upload-pack' | 'receive-pack';
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  signal?: AbortSignal | undefined;
}

export type AdvertiseDeps = Pick<UploadDeps, 'door' | 'shortSlots' | 'limits'>;

/**
 * The first answer of either service: refs and capabilities, or capabilities alone for
 * protocol version 2. Without the "# service" lines that HTTP puts before it.
 * Refuses `git_busy`.
 */
export type AdvertiseRefs = (request: AdvertiseRequest) => Promise<Buffer>;

/** Repositories differ in their settings only by object format; more kinds than this are not kept. */
const keptCapabilities = 8;

export function createAdvertiseRefs(deps: AdvertiseDeps): AdvertiseRefs {
  /** Capabilities of version 2, by the text of the repository's settings: they depend on nothing else that changes. */
  const capabilities = new Map<string, Buffer>();
  return async (request) => {
    if (request.service !== 'upload-pack' || request.protocol !== 'version=2') return askGit(deps, request);
    const settings = await readFile(path.join(request.path, 'config'), 'utf8');
    const known = capabilities.get(settings);
    if (known !== undefined) return known;
    const answer = await askGit(deps, request);
    if (capabilities.size < keptCapabilities) capabilities.set(settings, answer);
    return answer;
  };
}

async function askGit({ door, shortSlots, limits }: AdvertiseDeps, { path, service, protocol, signal }: AdvertiseRequest): Promise<Buffer> {
  const release = await shortSlots.take({ repository: path }, signal);
  try {
    const strict = service === 'upload-pack' ? ['--strict'] : [];
    const argv = [service, ...strict, '--stateless-rpc', '--http-backend-info-refs', path];
    const { code, output, complaint } = await door.run(
      { argv, protocol, signal, timeLimitMs: limits.shortMs },
      limits.shortOutputBytes,
    );
    if (code !== 0) throw internal('git could not list the refs', { cause: { service, code, complaint } });
    return output;
  } finally {
    release();
  }
}
