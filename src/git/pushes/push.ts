import type { Readable, Writable } from 'node:stream';
import type { Logger, Semaphore } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { Commit } from '../objects/parse-objects.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import type { FastForwardRule } from './fast-forward-check.ts';
import type { LinearRule } from './linear-check.ts';
import type { SignedRule, VerifyCommits } from './signed-check.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefUpdate } from './push-header.ts';
import type { RefResult } from './report-status.ts';
import type { RefQuota } from './ref-quota.ts';
import type { RecoveryAction } from '../maintenance/recover.ts';

/** Called for a push before git may act, and again when git has. */
export interface PushHooks {
  /**
   * `pre-receive`: called with the commands that the ref policy permits, in the order of the push. Nothing has
   * happened yet and nothing will before this resolves: the place for authorisation and journal. A refusal's `reason`
   * and the `remarks` are lines that the client shows.
   */
  preReceive(push: ProposedPush): Promise<PushVerdict>;
  /** Verifies commits for the `signed` rules of a verdict. Without it, none has a verified signature. */
  verifyCommits?: VerifyCommits;
  /** `post-receive`: called once when git has reported, with a result for every command that was accepted. */
  postReceive(results: RefResult[]): Promise<void>;
  /** Called when refs have moved, after `postReceive`: lines that the client shows. Must be quick: the client waits. */
  remarkOnArrival?(results: RefResult[]): Promise<readonly string[]>;
}

export interface ProposedPush {
  updates: RefUpdate[];
  options: string[];
  /** Whether the client requested all or nothing. */
  isAtomic: boolean;
  /** Of a push for review: what its pack begins with. */
  arriving?: IncomingCommits;
}

/** The commits at the beginning of a pack, before git has it. */
export interface IncomingCommits {
  /** What the command names: read from the pack, or from the repository; null when it is no commit, or too far back. */
  tip: Commit | null;
  /** Whether the repository had it. */
  isKnown: boolean;
  /** Ids of those that lead to the tip and that the pack has. */
  commits: readonly string[];
  /** Ids of the commits that these stand on, which the pack does not have. */
  ends: readonly string[];
  /** Reads one of `commits`; null for another. */
  read(oid: string): Commit | null;
}

/** A ref that git writes in the place of the one that the client named. */
export interface RewrittenRef {
  /** As in the command. */
  ref: string;
  /** `refs/pull/<number>/head`. */
  to: string;
  /** Its value now; zeros for none. */
  oldId: string;
}

/** A command that is not executed, with the reason: one line, shown beside the ref. */
export interface RefusedRef {
  ref: string;
  reason: string;
}

/** With `refused`, these commands are not executed; the hook accepts the others, or none with `reason`. */
export type PushVerdict =
  | {
      accept: true;
      refused?: readonly RefusedRef[];
      remarks?: string[];
      /** Of a push for review. */
      rewritten?: RewrittenRef;
      /** Size limit of the pack in bytes, where it is less than that of the server. */
      maxPackBytes?: number | null;
      /** Refs that may only be fast-forwarded; a command that breaks this is not executed. */
      onlyForward?: FastForwardRule[];
      /** Refs that take no merge commits; a command that brings one is not executed. */
      linear?: LinearRule[];
      /** Refs whose new commits need a verified signature; a command that brings another is not executed. */
      signed?: SignedRule[];
    }
  | { accept: false; refused?: readonly RefusedRef[]; reason: string };

/** Where git acts on a push whose refs are not files of the repository. */
export interface PushLanding {
  /** A repository that has the objects and refs of the other one, for this push alone. */
  path: string;
  /**
   * Makes the moves that git has made there; the journal is settled after it. What it says counts: git's report is
   * changed accordingly.
   * @param moves those that git has made
   * @returns the result of each, in order
   */
  land(moves: readonly RefUpdate[], options: { isAtomic: boolean }): Promise<RefResult[]>;
}

export interface PushRequest {
  path: string;
  /** For a repository whose truth is elsewhere. */
  landing?: PushLanding | undefined;
  protocol?: string | null | undefined;
  /** The client's bytes: commands, push options, pack. */
  input: Readable;
  /** Whether nothing else uses the chunks of `input`: their memory is given back when git has them. */
  ownsInput?: boolean | undefined;
  /** Left open: the caller ends it, or destroys it when the outcome is not clean. */
  output: Writable;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  hooks: PushHooks;
  /** Identifies the client for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides how long the client may stall, in milliseconds. */
  stallMs?: number | undefined;
  /** Whether `input` is a request that ends, and the client reads its response only then: HTTP. */
  stateless?: boolean | undefined;
  /** Namespaces where this repository accepts refs besides the usual ones: `gerritFolders`, `reviewFolder`. */
  extraFolders?: readonly string[] | undefined;
}

/**
 * How a push ended.
 * - `nothing`: no commands; git's probe before a large push, or nothing to do.
 * - `refused`: every command, by ref policy, hook or fast-forward rule, and `postReceive` was called
 * for those that the hook had accepted; git never got it.
 * - `reported`: git reported, and `postReceive` was called with a result for every accepted command.
 * - `unreported`: git exited without a report and `postReceive` was not called; the refs show
 * what took effect. `clean` when the client had not asked for a report; otherwise git was
 * killed, and the response is cut short.
 */
export type PushOutcome =
  | { kind: 'nothing' }
  | { kind: 'refused'; updates: RefUpdate[] }
  | { kind: 'reported'; updates: RefUpdate[]; results: RefResult[] }
  | { kind: 'unreported'; updates: RefUpdate[]; clean: boolean };

export interface PushDeps {
  runner: GitRunner;
  readers: ObjectReaders;
  slots: Semaphore;
  limits: GitLimits;
  logger: Logger;
  grantRefs: RefQuota;
  /** Removes what killed processes have left in a repository so far; never what is newer than the call. */
  removeLeftovers(path: string): Promise<RecoveryAction[]>;
  /** Repositories where a push was killed and its leftovers are not removed yet. */
  needsCleanup: Set<string>;
}
