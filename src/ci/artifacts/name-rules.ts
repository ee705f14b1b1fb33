import { invalid } from '../../kernel/index.ts';

const maxNameBytes = 255;
const maxPathBytes = 1024;
const maxDepth = 64;
/** Characters that file systems of runners refuse, or that would leave a folder. */
const badInNames = /[\u0000-\u001f\u007f":<>|*?\\/]/;
const badInPaths = /[\u0000-\u001f\u007f":<>|*?]/;
const isStep = (part: string): boolean => part === '' || part === '.' || part === '..';

/** The name of an artifact: valid as a folder name on every system. Refuses `invalid_artifact_name`. */
export function parseArtifactName(name: unknown): string {
  const isFine =
    typeof name === 'string' &&
    name.isWellFormed() &&
    !isStep(name) &&
    !badInNames.test(name) &&
    Buffer.byteLength(name) <= maxNameBytes;
  if (!isFine)
    throw invalid(
      'invalid_artifact_name',
      'An artifact name cannot have slashes, quotes or control characters, and has at most 255 bytes.',
    );
  return name as string;
}

const mediaType = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}(?:; ?charset=[a-z0-9-]{1,40})?$/i;

/**
 * The media type of an artifact that is not an archive, from what its client says; null for an archive, which older
 * clients do not mention. What is no media type is a file of an unknown one.
 */
export function parseMediaType(given: unknown): string | null {
  if (given === undefined || given === null || given === '' || given === 'application/zip') return null;
  return typeof given === 'string' && mediaType.test(given) ? given.toLowerCase() : 'application/octet-stream';
}

/** What an artifact is called as a file. A single file keeps its name, and so does an archive that ends in `.zip`. */
export const fileNameOf = ({ name, mediaType: type }: { name: string; mediaType: string | null }): string =>
  type !== null || name.toLowerCase().endsWith('.zip') ? name : `${name}.zip`;

/**
 * The path of a file in an artifact. Clients put the artifact's name in front, and on Windows use backslashes. Refuses
 * `invalid_artifact_path`.
 */
export function parseItemPath(text: string, artifactName: string): string {
  const [first, ...parts] = text.replaceAll('\\', '/').split('/');
  const path = parts.join('/');
  const isFine =
    first === artifactName &&
    parts.length > 0 &&
    parts.length <= maxDepth &&
    !parts.some(isStep) &&
    !badInPaths.test(path) &&
    path.isWellFormed() &&
    Buffer.byteLength(path) <= maxPathBytes;
  if (!isFine) throw invalid('invalid_artifact_path', 'This is not the path of a file in the artifact.');
  return path;
}
