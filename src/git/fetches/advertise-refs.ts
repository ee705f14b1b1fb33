import { internal } from '../../kernel/index.ts';
import type { Logger, Semaphore } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { buildAdvertisement, buildList } from '../ref-cache/build-advertisement.ts';
import { capabilityLine, learnLine } from '../ref-cache/capabilities.ts';
import type { LearnedLine, Service } from '../ref-cache/capabilities.ts';
import { readLsRefs } from '../ref-cache/read-ls-refs.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';

interface AdvertiseRequest {
  path: string;
  service: Service;
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  signal?: AbortSignal | undefined;
}

interface AdvertiseDeps {
  runner: GitRunner;
  shortSlots: Semaphore;
  limits: GitLimits;
  refCache: RefCache;
  logger: Logger;
}

/**
 * The first response of either service: refs and capabilities, or only the capabilities in protocol version 2, without
 * the "# service" lines of HTTP. Throws `git_busy`.
 */
export type AdvertiseRefs = (request: AdvertiseRequest) => Promise<Buffer>;

export interface Listings {
  advertiseRefs: AdvertiseRefs;
  /** The response to a complete `ls-refs` request of version 2; null if git has to produce it. */
  listRefs(path: string, request: Buffer): Promise<Buffer | null>;
}

/** One response by git for repositories of the same kind. */
interface Learned {
  /** The capabilities of version 2, which are constant. */
  version2?: Buffer;
  lines: Map<Service, LearnedLine>;
  /** True after a response built here has differed from git's; from then on git serves this kind. */
  isDoubtful?: boolean;
}

/** Number of repository kinds to remember; repositories differ in their settings only by object format. */
const maxKinds = 8;
/** Cached responses per repository: the two services and the usual `ls-refs` requests. */
const maxCachedResponses = 8;
const maxCachedRequestBytes = 4_096;

/**
 * Builds ref advertisements from the ref cache, byte for byte as git would. Capabilities are learned from git's
 * response to the first request of each kind; unsupported repositories are left to git.
 */
export function createListings(deps: AdvertiseDeps): Listings {
  /**
   * Keyed by the text of the repository's settings, which together with git's version and the server's settings
   * determines everything else.
   */
  const kinds = new Map<string, Learned>();

  function kindOf({ config }: RefSnapshot): Learned {
    const kind = kinds.get(config) ?? { lines: new Map() };
    if (kinds.size < maxKinds) kinds.set(config, kind);
    return kind;
  }

  function build(snapshot: RefSnapshot, { service, protocol }: AdvertiseRequest): Buffer | null {
    const kind = kindOf(snapshot);
    if (kind.isDoubtful === true) return null;
    if (service === 'upload-pack' && protocol === 'version=2') return kind.version2 ?? null;
    return ready(snapshot, `${service} ${protocol === 'version=1' ? 1 : 0}`, () => {
      const learned = kind.lines.get(service);
      const line = learned === undefined ? null : capabilityLine(learned, service, snapshot);
      return line === null ? null : buildAdvertisement(snapshot, service, line, protocol === 'version=1');
    });
  }

  /**
   * Learns from git's response. Only the first response is compared with one built here: if they are equal, later ones
   * are too.
   */
  function learn(snapshot: RefSnapshot, request: AdvertiseRequest, response: Buffer): void {
    const kind = kindOf(snapshot);
    if (request.service === 'upload-pack' && request.protocol === 'version=2') {
      kind.version2 = response;
      return;
    }
    const line = learnLine(response);
    if (line === null) return;
    const known = kind.lines.get(request.service);
    kind.lines.set(request.service, { ...line, symrefAt: line.symrefAt ?? known?.symrefAt ?? null });
    const built = build(snapshot, request);
    if (built === null || built.equals(response)) return;
    kind.isDoubtful = true;
    deps.logger.warn('git.refs_differ', { repository: request.path, service: request.service });
  }

  return {
    async advertiseRefs(request) {
      const snapshot = await deps.refCache.of(request.path);
      const built = snapshot === null ? null : build(snapshot, request);
      if (built !== null) return built;
      const response = await advertiseByGit(deps, request);
      // Comparable only if both were built from the same refs.
      if (snapshot !== null && (await deps.refCache.of(request.path)) === snapshot) learn(snapshot, request, response);
      return response;
    },
    async listRefs(path, request) {
      const snapshot = await deps.refCache.of(path);
      if (snapshot === null || kindOf(snapshot).isDoubtful === true) return null;
      return ready(snapshot, request.toString('latin1'), () => {
        const question = readLsRefs(
          request,
          /^\s*objectformat\s*=\s*sha256\s*$/im.test(snapshot.config) ? 'sha256' : 'sha1',
        );
        return question === null ? null : buildList(snapshot, question);
      });
    },
  };
}

/** The cached response for this snapshot of the refs, or a new one. */
function ready({ advertisements }: RefSnapshot, question: string, make: () => Buffer | null): Buffer | null {
  const known = advertisements.get(question);
  if (known !== undefined) return known;
  const built = make();
  if (built !== null && advertisements.size < maxCachedResponses && question.length < maxCachedRequestBytes)
    advertisements.set(question, built);
  return built;
}

async function advertiseByGit(
  { runner, shortSlots, limits }: AdvertiseDeps,
  { path, service, protocol, signal }: AdvertiseRequest,
): Promise<Buffer> {
  const release = await shortSlots.acquire({ repository: path }, signal);
  try {
    const strict = service === 'upload-pack' ? ['--strict'] : [];
    const argv = [service, ...strict, '--stateless-rpc', '--http-backend-info-refs', path];
    const { code, output, errorText } = await runner.run(
      { argv, protocol, signal, timeLimitMs: limits.shortMs },
      limits.shortOutputBytes,
    );
    if (code !== 0) throw internal('git could not list the refs', { cause: { service, code, errorText } });
    return output;
  } finally {
    release();
  }
}
