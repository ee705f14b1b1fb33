import { t } from '../../translation/index.ts';
import type { FormatName } from '../../packages/index.ts';

/** Commands or text to paste, with a title. */
interface Recipe {
  id: string;
  title: string;
  lines: string;
}

interface Place {
  /** Origin of this server as the browser knows it. */
  origin: string;
  owner: string;
}

interface Named {
  name: string;
  version: string;
  /** Tags of an image that point to it. */
  tags: readonly string[];
  /** An artifact other than an image in an image registry: container engines refuse it. */
  isArtifact: boolean;
  files: readonly string[];
  isPrivate: boolean;
}

type Writer<Input> = (place: Place, input: Input) => Omit<Recipe, 'id'>[];

const hostOf = ({ origin }: Place): string => new URL(origin).host;
const base = ({ origin, owner }: Place, format: string): string => `${origin}/packages/${owner}/${format}`;
const scopeOf = (name: string): string | null => /^(@[^/]+)\//.exec(name)?.[1] ?? null;
const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const npmRegistry = (place: Place, name: string): string => {
  const scope = scopeOf(name);
  return `npm config set ${scope === null ? '' : `${scope}:`}registry ${base(place, 'npm')}/`;
};
const npmToken = (place: Place): string =>
  `npm config set //${base(place, 'npm').replace(/^https?:\/\//, '')}/:_authToken YOUR_TOKEN`;
const cargoConfig = (place: Place, isPrivate: boolean): string =>
  [
    `[registries.${place.owner}]`,
    `index = "sparse+${base(place, 'cargo')}/${isPrivate ? 'auth/' : ''}"`,
    'credential-provider = ["cargo:token"]',
  ].join('\n');
const mavenRepository = (place: Place): string =>
  `<repository>\n  <id>${place.owner}</id>\n  <url>${base(place, 'maven')}</url>\n</repository>`;

const install: Readonly<Record<FormatName, Writer<Named>>> = {
  oci(place, { name, version, tags, isArtifact, isPrivate }) {
    const at = `${hostOf(place)}/${place.owner}/${name}`;
    const program = isArtifact ? 'oras' : 'podman';
    const signIn = isPrivate ? [`${program} login ${hostOf(place)}`] : [];
    const [tag] = tags;
    return [
      ...(tag === undefined
        ? []
        : [
            {
              title: t('packages.install_commands.by_tag'),
              lines: [...signIn, `${program} pull ${at}:${tag}`].join('\n'),
            },
          ]),
      {
        title: t('packages.install_commands.by_digest'),
        lines: [...(tag === undefined ? signIn : []), `${program} pull ${at}@${version}`].join('\n'),
      },
    ];
  },
  npm: (place, { name, version, isPrivate }) => [
    {
      title: t('packages.install_commands.command_line'),
      lines: [npmRegistry(place, name), ...(isPrivate ? [npmToken(place)] : []), `npm install ${name}@${version}`].join(
        '\n',
      ),
    },
    { title: 'package.json', lines: `"${name}": "${version}"` },
  ],
  pypi(place, { name, version, isPrivate }) {
    const index = isPrivate ? base(place, 'pypi').replace(/^(https?:\/\/)/, '$1x:YOUR_TOKEN@') : base(place, 'pypi');
    return [
      { title: 'pip', lines: `pip install --index-url ${index}/simple/ ${name}==${version}` },
      { title: 'uv', lines: `uv add --index ${index}/simple/ ${name}==${version}` },
    ];
  },
  cargo: (place, { name, version, isPrivate }) => [
    { title: '.cargo/config.toml', lines: cargoConfig(place, isPrivate) },
    {
      title: t('packages.install_commands.command_line'),
      lines: `cargo add --registry ${place.owner} ${name}@${version}`,
    },
  ],
  maven(place, { name, version }) {
    const [group = '', artifact = ''] = name.split(':');
    return [
      {
        title: 'pom.xml',
        lines: `<dependency>\n  <groupId>${xml(group)}</groupId>\n  <artifactId>${xml(artifact)}</artifactId>\n  <version>${xml(version)}</version>\n</dependency>`,
      },
      { title: t('packages.install_commands.maven_repository'), lines: mavenRepository(place) },
      {
        title: 'Gradle',
        lines: `repositories { maven { url = uri("${base(place, 'maven')}") } }\ndependencies { implementation("${name}:${version}") }`,
      },
    ];
  },
  generic: (place, { name, version, files, isPrivate }) => [
    {
      title: t('packages.install_commands.command_line'),
      lines: files
        .slice(0, 5)
        .map(
          (file) =>
            `curl ${isPrivate ? `-u ${place.owner}:YOUR_TOKEN ` : ''}-O ${base(place, 'generic')}/${encodeURIComponent(name)}/${encodeURIComponent(version)}/${encodeURIComponent(file)}`,
        )
        .join('\n'),
    },
  ],
};

const publish: Readonly<Record<FormatName, Writer<null>>> = {
  oci: (place) => [
    {
      title: t('packages.install_commands.container_image'),
      lines: `podman login ${hostOf(place)}\npodman push my-image ${hostOf(place)}/${place.owner}/my-image:1.0`,
    },
  ],
  npm: (place) => [
    { title: 'npm', lines: `${npmRegistry(place, `@${place.owner}/x`)}\n${npmToken(place)}\nnpm publish` },
  ],
  pypi: (place) => [
    {
      title: 'PyPI',
      lines: `twine upload --repository-url ${base(place, 'pypi')}/ -u ${place.owner} -p YOUR_TOKEN dist/*`,
    },
  ],
  cargo: (place) => [
    {
      title: 'Cargo',
      lines: `# .cargo/config.toml\n${cargoConfig(place, false)}\n\n# Command line\ncargo login --registry ${place.owner}\ncargo publish --registry ${place.owner}`,
    },
  ],
  maven: (place) => [
    { title: 'Maven', lines: `mvn deploy -DaltDeploymentRepository=${place.owner}::${base(place, 'maven')}` },
  ],
  generic: (place) => [
    {
      title: t('packages.install_commands.any_file'),
      lines: `curl -u ${place.owner}:YOUR_TOKEN -T my-file.zip ${base(place, 'generic')}/my-package/1.0/my-file.zip`,
    },
  ],
};

const numbered = (recipes: readonly Omit<Recipe, 'id'>[], id: string): Recipe[] =>
  recipes.map((recipe, at) => ({ id: `${id}-${at + 1}`, ...recipe }));

/** The commands that install a version from this server. `YOUR_TOKEN` stands for an access token. */
export const viewInstallation = (format: FormatName, place: Place, named: Named): Recipe[] =>
  numbered(install[format](place, named), 'install');

/** The commands that publish the first package of an owner, in every format. */
export const viewPublishing = (place: Place): Recipe[] =>
  numbered(
    (['oci', 'npm', 'pypi', 'cargo', 'maven', 'generic'] as const).flatMap((format) => publish[format](place, null)),
    'publish',
  );
