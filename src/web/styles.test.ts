import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const here = new URL('./', import.meta.url)
const library = new URL('../../node_modules/@mantine/core/styles/', here)

const sources = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => readFileSync(new URL(path, here), 'utf8'))
const styles = readFileSync(new URL('styles.css', here), 'utf8')

describe('the styles', () => {
  it('have the sheet of every library part that is used', () => {
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
})
