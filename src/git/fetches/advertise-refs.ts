import { internal } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { buildAdvertisement, buildList } from '../ref-cache/build-advertisement.ts';
import { capabilityLine, learnLine } from '../ref-cache/capabilities.ts';
import type { LearnedLine, Service } from '../ref-cache/capabilities.ts';
import { readLsRefs } from '../ref-cache/read-ls-refs.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';
import type { Slots } from '../processes/slots.ts';

export interface AdvertiseRequest {
  path: string;
  service: Service;
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  signal?: AbortSignal | undefined;
}

export interface AdvertiseDeps {
  door: GitRunner;
  shortSlots: Slots;
  limits: GitLimits;
  tables: RefCache;
  logger: Logger;
}

/**
 * The first response of either service: refs and capabilities, or the capabilities alone in protocol version 2,
 * without the "# service" lines of HTTP. Refuses `git_busy`.
 */
export type AdvertiseRefs = (request: AdvertiseRequest) => Promise<Buffer>;

export interface Listings {
  advertiseRefs: AdvertiseRefs;
  /** The response to a complete `ls-refs` request of version 2; null when git has to produce it. */
  listRefs(path: string, request: Buffer): Promise<Buffer | null>;
}

/** What git answered once for repositories of one kind. */
interface Learned {
  /** The capabilities of version 2, which are constant. */
  version2?: Buffer;
  lines: Map<Service, LearnedLine>;
  /** True once a response built here differed from git's; nothing is built for this kind from then on. */
  isDoubtful?: boolean;
}

/** Number of repository kinds to remember; repositories differ in their settings only by object format. */
const keptKinds = 8;
/** Cached responses per repository: the two services and the usual `ls-refs` requests. */
const keptAnswers = 8;
const keptQuestionBytes = 4_096;

/**
 * Builds ref advertisements from the ref cache, byte for byte as git would. What only git knows is learned from its
 * response to the first request of each kind; an unsupported repository is left to git.
 */
export function createListings(deps: AdvertiseDeps): Listings {
  /**
   * Keyed by the text of the repository's settings: together with git's version and the server's settings it decides
   * everything else.
   */
  const kinds = new Map<string, Learned>();

  function kindOf({ config }: RefSnapshot): Learned {
    const kind = kinds.get(config) ?? { lines: new Map() };
    if (kinds.size < keptKinds) kinds.set(config, kind);
    return kind;
  }

  function build(table: RefSnapshot, { service, protocol }: AdvertiseRequest): Buffer | null {
    const kind = kindOf(table);
    if (kind.isDoubtful === true) return null;
    if (service === 'upload-pack' && protocol === 'version=2') return kind.version2 ?? null;
    return ready(table, `${service} ${protocol === 'version=1' ? 1 : 0}`, () => {
      const learned = kind.lines.get(service);
      const line = learned === undefined ? null : capabilityLine(learned, service, table);
      return line === null ? null : buildAdvertisement(table, service, line, protocol === 'version=1');
    });
  }

  /**
   * Stores what git's response says. Only the first response is compared with one built here: if they are equal, later
   * ones are too.
   */
  function learn(table: RefSnapshot, request: AdvertiseRequest, answer: Buffer): void {
    const kind = kindOf(table);
    if (request.service === 'upload-pack' && request.protocol === 'version=2') {
      kind.version2 = answer;
      return;
    }
    const line = learnLine(answer);
    if (line === null) return;
    const known = kind.lines.get(request.service);
    kind.lines.set(request.service, { ...line, symrefAt: line.symrefAt ?? known?.symrefAt ?? null });
    const ours = build(table, request);
    if (ours === null || ours.equals(answer)) return;
    kind.isDoubtful = true;
    deps.logger.warn('git.refs_differ', { repository: request.path, service: request.service });
  }

  return {
    async advertiseRefs(request) {
      const table = await deps.tables.of(request.path);
      const answer = table === null ? null : build(table, request);
      if (answer !== null) return answer;
      const told = await askGit(deps, request);
      // Comparable only when both were made from the same refs.
      if (table !== null && (await deps.tables.of(request.path)) === table) learn(table, request, told);
      return told;
    },
    async listRefs(path, request) {
      const table = await deps.tables.of(path);
      if (table === null || kindOf(table).isDoubtful === true) return null;
      return ready(table, request.toString('latin1'), () => {
        const question = readLsRefs(
          request,
          /^\s*objectformat\s*=\s*sha256\s*$/im.test(table.config) ? 'sha256' : 'sha1',
        );
        return question === null ? null : buildList(table, question);
      });
    },
  };
}

/** The cached response for this snapshot of the refs, or a new one. */
function ready({ advertisements }: RefSnapshot, question: string, make: () => Buffer | null): Buffer | null {
  const known = advertisements.get(question);
  if (known !== undefined) return known;
  const answer = make();
  if (answer !== null && advertisements.size < keptAnswers && question.length < keptQuestionBytes)
    advertisements.set(question, answer);
  return answer;
}

async function askGit(
  { door, shortSlots, limits }: AdvertiseDeps,
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
