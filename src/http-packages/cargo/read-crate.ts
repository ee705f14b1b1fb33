import { invalid } from '../../kernel/index.ts';
import { formatOf } from '../../packages/index.ts';

/** Metadata of a version of a crate. */
export interface CrateMetadata {
  /** Its line in the index, without checksum and yank. */
  index: Record<string, unknown>;
  yanked: boolean;
  description: string;
  readme: string;
  license: string;
}

interface PublishedCrate {
  name: string;
  version: string;
  metadata: CrateMetadata;
  crate: Buffer;
}

const malformed = (message: string) => invalid('package_metadata', message);
type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const text = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/**
 * Parses the body of `cargo publish`: the length of a JSON, the JSON, the length of the crate, the crate (The Cargo
 * Book, "Publish"). Throws `package_metadata`, `invalid_package_version`.
 */
export function readCrate(body: Buffer): PublishedCrate {
  if (body.length < 8) throw malformed('This is no crate.');
  const jsonBytes = body.readUInt32LE(0);
  if (4 + jsonBytes + 4 > body.length) throw malformed('This crate was cut off.');
  const crateBytes = body.readUInt32LE(4 + jsonBytes);
  const crate = body.subarray(8 + jsonBytes);
  if (crate.length !== crateBytes) throw malformed('The crate that arrived does not have the announced length.');
  const sent = parse(body.subarray(4, 4 + jsonBytes));
  const { name, vers, features, features2, links, deps } = sent;
  if (typeof name !== 'string' || typeof vers !== 'string') throw malformed('This crate has no name or no version.');
  formatOf('cargo').nameKey(name);
  formatOf('cargo').versionKey(vers);
  if (deps !== undefined && !Array.isArray(deps)) throw malformed('The dependencies of this crate are no list.');
  const index = {
    name,
    vers,
    deps: (deps ?? []).map(readDependency),
    features: isObject(features) ? features : {},
    ...(isObject(features2) ? { features2, v: 2 } : {}),
    links: typeof links === 'string' ? links : null,
    ...(typeof sent['rust_version'] === 'string' ? { rust_version: sent['rust_version'] } : {}),
  };
  const metadata = {
    index,
    yanked: false,
    description: text(sent['description'], 1_000),
    readme: text(sent['readme'], 200_000),
    license: text(sent['license'], 200),
  };
  return { name, version: vers, metadata, crate };
}

function parse(bytes: Buffer): Json {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw malformed('The metadata of this crate is no JSON object.');
}

/** The index lists a renamed dependency by its new name, with the crate as `package`. */
function readDependency(value: unknown): Json {
  if (!isObject(value) || typeof value['name'] !== 'string') throw malformed('A dependency of this crate has no name.');
  const { name, version_req: req, explicit_name_in_toml: renamed, features, optional, target, kind, registry } = value;
  const isRenamed = typeof renamed === 'string' && renamed !== '';
  return {
    name: isRenamed ? renamed : name,
    req: typeof req === 'string' ? req : '*',
    features: Array.isArray(features) ? features : [],
    optional: optional === true,
    default_features: value['default_features'] !== false,
    target: typeof target === 'string' ? target : null,
    kind: typeof kind === 'string' ? kind : 'normal',
    registry: typeof registry === 'string' ? registry : null,
    package: isRenamed ? name : null,
  };
}
