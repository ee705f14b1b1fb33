import { internal } from '../kernel/index.ts';
import type { UploadDeps } from './upload-pack.ts';

export interface AdvertiseRequest {
  path: string;
  service: 'upload-pack' | 'receive-pack';
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The first answer of either service: refs and capabilities, or capabilities alone for
 * protocol version 2. Without the "# service" lines that HTTP puts before it.
 * Refuses `git_busy`.
 */
export async function advertiseRefs(
  { door, shortSlots, limits }: Pick<UploadDeps, 'door' | 'shortSlots' | 'limits'>,
  { path, service, protocol, signal }: AdvertiseRequest,
): Promise<Buffer> {
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
