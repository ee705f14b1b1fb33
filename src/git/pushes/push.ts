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

/** Hooks called before git executes a push and after it. */
export interface PushHooks {
  /**
   * `pre-receive`: called with the commands that the ref policy permits, in push order. Nothing happens before this
   * resolves: the place for authorisation and journal. The client shows a refusal's `reason` and the `remarks`.
   */
  preReceive(push: ProposedPush): Promise<PushVerdict>;
  /** Verifies commits for the `signed` rules of a verdict. Without it, no commit counts as verified. */
  verifyCommits?: VerifyCommits;
  /** `post-receive`: called once when git has reported, with a result for every accepted command. */
  postReceive(results: RefResult[]): Promise<void>;
  /** Called after `postReceive` when refs have moved; returns lines for the client. Must be quick: the client waits. */
  remarkOnArrival?(results: RefResult[]): Promise<readonly string[]>;
}

export interface ProposedPush {
  updates: RefUpdate[];
  options: string[];
  /** Whether the client requested all or nothing. */
  isAtomic: boolean;
  /** For a push for review: the commits in its pack. */
  arriving?: IncomingCommits;
}

/** The commits at the beginning of a pack, before git receives it. */
export interface IncomingCommits {
  /**
   * The commit that the command names, from the pack or the repository; null if it is not a commit, or too far back.
   */
  tip: Commit | null;
  /** Whether the commit was already in the repository. */
  isKnown: boolean;
  /** Ids of the pack's commits that are reachable from the tip. */
  commits: readonly string[];
  /** Ids of their ancestors that the pack does not contain. */
  ends: readonly string[];
  /** Reads one of `commits`; null for any other id. */
  read(oid: string): Commit | null;
}

/** A ref that git writes instead of the one named by the client. */
export interface RewrittenRef {
  /** As in the command. */
  ref: string;
  /** `refs/pull/<number>/head`. */
  to: string;
  /** Its current value; zeros for none. */
  oldId: string;
}

/** A command that is not executed, with the reason: one line, shown beside the ref. */
export interface RefusedRef {
  ref: string;
  reason: string;
}

/** Commands in `refused` are not executed; the hook accepts all others, or none if it gives a `reason`. */
export type PushVerdict =
  | {
      accept: true;
      refused?: readonly RefusedRef[];
      remarks?: string[];
      /** For a push for review. */
      rewritten?: RewrittenRef;
      /** Size limit of the pack in bytes, if below that of the server. */
      maxPackBytes?: number | null;
      /** Refs that may only be fast-forwarded; commands that rewrite them are refused. */
      onlyForward?: FastForwardRule[];
      /** Refs that may not contain merge commits; commands that add one are refused. */
      linear?: LinearRule[];
      /** Refs whose new commits need a verified signature; commands that add a commit without one are refused. */
      signed?: SignedRule[];
    }
  | { accept: false; refused?: readonly RefusedRef[]; reason: string };

/** Where git executes a push if the refs are not files of the repository. */
export interface PushLanding {
  /** A repository for this push only, with the objects and refs of the target. */
  path: string;
  /**
   * Repeats the moves that git has made there; the journal is settled afterwards. Its results replace those in git's
   * report.
   * @param moves successful moves of git
   * @returns the result of each, in order
   */
  land(moves: readonly RefUpdate[], options: { isAtomic: boolean }): Promise<RefResult[]>;
}

export interface PushRequest {
  path: string;
  /** For a repository whose source of truth is elsewhere. */
  landing?: PushLanding | undefined;
  protocol?: string | null | undefined;
  /** The client's bytes: commands, push options, pack. */
  input: Readable;
  /** Whether nothing else uses the chunks of `input`, so that their memory is reused after git has received them. */
  ownsInput?: boolean | undefined;
  /** Left open: the caller ends it, or destroys it if the outcome is not clean. */
  output: Writable;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  hooks: PushHooks;
  /** Identifies the client for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides the time limit of a stalled client, in milliseconds. */
  stallMs?: number | undefined;
  /** Whether `input` is a finite request whose response the client reads only at its end: HTTP. */
  stateless?: boolean | undefined;
  /** Ref namespaces that this repository accepts besides the usual ones: `gerritFolders`, `reviewFolder`. */
  extraFolders?: readonly string[] | undefined;
}

/**
 * How a push ended.
 * - `nothing`: no commands; git's probe before a large push, or nothing to do.
 * - `refused`: every command, by ref policy, hook or fast-forward rule; `postReceive` was called for those that the
 *   hook had accepted, and git received nothing.
 * - `reported`: git reported, and `postReceive` was called with a result for every accepted command.
 * - `unreported`: git exited without a report and `postReceive` was not called; the refs show what took effect. `clean`
 *   if the client had not asked for a report; otherwise git was killed, and the response is cut short.
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
  /** Removes leftovers of killed processes in a repository; never files newer than the call. */
  removeLeftovers(path: string): Promise<RecoveryAction[]>;
  /** Repositories with leftovers of a killed push. */
  needsCleanup: Set<string>;
}
