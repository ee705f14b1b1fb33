import { invalid } from '../../kernel/index.ts';

const maxNameBytes = 255;
const maxPathBytes = 1024;
const maxDepth = 64;
/** Characters that file systems of runners do not allow, or that would leave the folder. */
const badInNames = /[\u0000-\u001f\u007f":<>|*?\\/]/;
const badInPaths = /[\u0000-\u001f\u007f":<>|*?]/;
const isStep = (part: string): boolean => part === '' || part === '.' || part === '..';

/**
 * Parses the name of an artifact, which must be a valid folder name on every system. Throws `invalid_artifact_name`.
 */
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
      'An artifact name cannot contain slashes, quotes or control characters, and can be at most 255 bytes long.',
    );
  return name as string;
}

const mediaType = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}(?:; ?charset=[a-z0-9-]{1,40})?$/i;

/**
 * Returns the declared media type of an artifact that is not an archive, `application/octet-stream` for an invalid one,
 * and null for an archive; older clients declare none for archives.
 */
export function parseMediaType(given: unknown): string | null {
  if (given === undefined || given === null || given === '' || given === 'application/zip') return null;
  return typeof given === 'string' && mediaType.test(given) ? given.toLowerCase() : 'application/octet-stream';
}

/**
 * The file name of an artifact for download. A single file keeps its name, and so does an archive that ends in `.zip`.
 */
export const fileNameOf = ({ name, mediaType: type }: { name: string; mediaType: string | null }): string =>
  type !== null || name.toLowerCase().endsWith('.zip') ? name : `${name}.zip`;

/**
 * Parses the path of a file in an artifact. Clients prepend the name of the artifact, and on Windows use backslashes.
 * Throws `invalid_artifact_path`.
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
