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
import type { Semaphore } from '../../kernel/index.ts';

export interface AdvertiseRequest {
  path: string;
  service: Service;
  /** The client's `Git-Protocol` or `GIT_PROTOCOL`. */
  protocol?: string | null | undefined;
  signal?: AbortSignal | undefined;
}

export interface AdvertiseDeps {
  door: GitRunner;
  shortSlots: Semaphore;
  limits: GitLimits;
  tables: RefCache;
  logger: Logger;
}

/**
 * The first answer of either service: refs and capabilities, or capabilities alone for
 * protocol version 2. Without the "# service" lines that HTTP puts before it.
 * Refuses `git_busy`.
 */
export type AdvertiseRefs = (request: AdvertiseRequest) => Promise<Buffer>;

export interface Listings {
  advertiseRefs: AdvertiseRefs;
  /** The answer to a whole request for `ls-refs` of version 2; null when git has to give it. */
  listRefs(path: string, request: Buffer): Promise<Buffer | null>;
}

/** What git itself answered once, for repositories of one kind. */
interface Learned {
  /** Capabilities of version 2: constant. */
  version2?: Buffer;
  lines: Map<Service, LearnedLine>;
  /** An answer of ours once differed from git's: never again. */
  isDoubtful?: boolean;
}

/** Repositories differ in their settings only by object format; more kinds than this are not kept. */
const keptKinds = 8;
/** Answers of one repository that are kept ready: the two services and what clients usually ask `ls-refs`. */
const keptAnswers = 8;
const keptQuestionBytes = 4_096;

/**
 * Answers from refs in memory, byte for byte as git would. What only git knows is
 * learned from its answer to the first request of each kind; an unusual repository is
 * left to git.
 */
export function createListings(deps: AdvertiseDeps): Listings {
  /** By the text of the repository's settings: with git's version and our settings it decides all else. */
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

  /** Keeps what `answer` tells, and from then on compares nothing more: one look shows whether we speak alike. */
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
      // Only when both spoke of the same refs.
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

/** The answer that was built for these refs before, or a new one. */
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
  const release = await shortSlots.acquire({ repository: path }, signal);
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
