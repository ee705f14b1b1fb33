import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';

/** Common parameters of all git processes besides their arguments. */
export interface GitSettings {
  /** The whole environment of a child; nothing is inherited. */
  environment: Readonly<Record<string, string>>;
  /** An empty folder: HOME, and the working directory of every child. */
  home: string;
  /** The server's gitconfig; its path is in the environment of every child. */
  file: string;
}

interface WrittenSettings extends GitSettings {
  /** Changes whenever the settings change. */
  digest: string;
}

/**
 * Writes the configuration of all git processes, with an empty HOME, an empty hooks folder and an empty template
 * folder, below `folder`. The file is replaced atomically, and only if its text has changed: a command that runs beside
 * the server never disturbs the server's children. Synchronous: asynchronous calls would cost the start a dozen trips
 * through the thread pool.
 * @param folder absolute path, state of the process: may be deleted while nothing runs
 * @param maxPushBytes size limit of the pack of one push; 0 for none
 */
export function writeSettings(folder: string, { maxPushBytes }: { maxPushBytes: number }): WrittenSettings {
  const [home, hooks, template] = [
    path.join(folder, 'home'),
    path.join(folder, 'hooks'),
    path.join(folder, 'template'),
  ];
  for (const empty of [home, hooks, template]) {
    mkdirSync(empty, { recursive: true, mode: 0o700 });
    chmodSync(empty, 0o500);
  }
  const file = path.join(folder, 'config');
  const text = configText({ hooks, template, maxPushBytes });
  replaceFile(file, text);
  return {
    environment: environment(home, file),
    home,
    file,
    digest: createHash('sha256').update(text).digest('base64'),
  };
}

/** The current time in epoch milliseconds by the file system clock of `folder`. */
export function timeOfFileSystem(folder: string): number {
  const probe = path.join(folder, `time-${process.pid}-${randomUUID()}`);
  writeFileSync(probe, '');
  const { mtimeMs } = statSync(probe);
  rmSync(probe);
  return mtimeMs;
}

function replaceFile(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  const fresh = `${file}.${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { mode: 0o400 });
  renameSync(fresh, file);
}

function environment(home: string, configFile: string): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    LC_ALL: 'C.UTF-8',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: configFile,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_PAGER: 'cat',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: '',
  };
}

/** Quotes a value for a gitconfig: a data folder may have any name. */
const quoted = (value: string): string =>
  `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

function configText({
  hooks,
  template,
  maxPushBytes,
}: {
  hooks: string;
  template: string;
  maxPushBytes: number;
}): string {
  return `# Written by Hearth at every start; changes are lost.
[core]
	fsync = committed,reference
	fsyncMethod = fsync
	bigFileThreshold = 16m
	hooksPath = ${quoted(hooks)}
	alternateRefsCommand = /bin/false
	packedGitLimit = 256m
	deltaBaseCacheLimit = 32m
	filesRefLockTimeout = 1000
	packedRefsTimeout = 5000
[receive]
	fsckObjects = true
	maxInputSize = ${maxPushBytes}
	advertisePushOptions = true
	autogc = false
	# Always a pack: what it inflates to never touches the disk, and it is synced in fewer steps.
	unpackLimit = 1
	denyCurrentBranch = ignore
	# The server's own. A push for review shows git the one that it may write.
	hideRefs = refs/pull
[receive "fsck"]
	gitattributesSymlink = error
	gitmodulesSymlink = error
	mailmapSymlink = error
	gitignoreSymlink = error
	# Harmless faults of tools from before 2010. Well-known projects have them in
	# their history for ever, and could not move here otherwise.
	zeroPaddedFilemode = ignore
	badTimezone = ignore
	missingSpaceBeforeDate = ignore
	zeroPaddedDate = ignore
	missingEmail = ignore
[transfer]
	fsckObjects = true
	hideRefs = refs/hearth
	hideRefs = refs/replace
[uploadpack]
	allowAnySHA1InWant = false
	allowReachableSHA1InWant = false
	allowFilter = true
[uploadpackfilter]
	allow = false
[uploadpackfilter "blob:none"]
	allow = true
[uploadpackfilter "blob:limit"]
	allow = true
[uploadpackfilter "object:type"]
	allow = true
[uploadpackfilter "combine"]
	allow = true
# src/git/fetches/check-filter.ts limits it to full object ids that are reachable.
[uploadpackfilter "sparse:oid"]
	allow = true
# Deeper trees would be walked once for each path that leads to them.
[uploadpackfilter "tree"]
	allow = true
	maxDepth = 0
[safe]
	bareRepository = explicit
[gc]
	auto = 0
[pack]
	threads = 1
	windowMemory = 64m
[protocol]
	allow = never
[init]
	templateDir = ${quoted(template)}
`;
}
