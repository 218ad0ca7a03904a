import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const here = new URL('./', import.meta.url)
const library = new URL('../../node_modules/@mantine/core/styles/', here)

const sources = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => readFileSync(new URL(path, here), 'utf8'))
const styles = readFileSync(new URL('styles.css', here), 'utf8')

describe('the styles', () => {
  it('include the style sheet of every library component that is used', () => {
    const used = sources.flatMap((text) =>
      [...text.matchAll(/import \{([^}]+)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
        names.split(',').map((name) => name.trim()),
      ),
    )
    const missing = [...new Set(used)].filter(
      (name) => existsSync(new URL(`${name}.layer.css`, library)) && !styles.includes(`/${name}.layer.css`),
    )
    expect(missing).toEqual([])
  })

  it('give the outline of controls a contrast of at least 3:1 on every surface', () => {
    // The file is read as text, because an import of the theme loads the whole library.
    const theme = readFileSync(new URL('theme.ts', here), 'utf8')
    const tones = (name: string) =>
      new RegExp(`const ${name}: MantineColorsTuple = \\[([^\\]]+)`).exec(theme)?.[1]?.match(/#\w{6}/g) ?? []
    const [light = '', dark = ''] = [...theme.matchAll(/'--line-field': '(#\w{6})'/g)].map(([, color]) => color)
    const surfaces = [
      ...['#ffffff', ...tones('gray').slice(0, 1)].map((surface) => [light, surface] as const),
      ...tones('dark')
        .slice(6, 9)
        .map((surface) => [dark, surface] as const),
    ]
    expect(surfaces).toHaveLength(5)
    for (const [line, surface] of surfaces) expect(contrast(line, surface), `${line} on ${surface}`).toBeGreaterThanOrEqual(3)
  })
})

/** The contrast ratio by WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((first, second) => first - second)
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
