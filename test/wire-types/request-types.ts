import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API, type Checker, SymbolFlags, type Type } from 'typescript/unstable/sync'

/** The types of requests in the declarations of the official SDKs, read by the compiler. */

const root = fileURLToPath(new URL('../../', import.meta.url))

const settings = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    noEmit: true,
    rewriteRelativeImportExtensions: false,
  },
  include: ['*.ts'],
}

/** The body of each format. Gemini's SDK has the members of one body in several types. */
const declarations = `
import type Anthropic from '@anthropic-ai/sdk'
import type { Content, GenerateContentConfig, GenerationConfig, SafetySetting, Tool, ToolConfig } from '@google/genai'
import type OpenAI from 'openai'

type Shared = Pick<GenerateContentConfig, 'cachedContent' | 'labels' | 'serviceTier' | 'store' | 'continuationToken' | 'modelArmorConfig'>

export interface Requests {
  readonly 'openai.chat': OpenAI.ChatCompletionCreateParamsNonStreaming
  readonly 'openai.responses': OpenAI.Responses.ResponseCreateParamsNonStreaming
  readonly 'anthropic.messages': Anthropic.Beta.Messages.MessageCreateParamsNonStreaming
  readonly 'gemini.generate': Shared & {
    readonly contents: Content[]
    readonly systemInstruction?: Content
    readonly tools?: Tool[]
    readonly toolConfig?: ToolConfig
    readonly safetySettings?: SafetySetting[]
    readonly generationConfig?: GenerationConfig & Pick<GenerateContentConfig, 'imageConfig' | 'modelSelectionConfig'>
  }
}
`

/** A type of a member, as far as a request has it: the alternatives of a union, without null. */
export interface Shape {
  readonly literals: readonly (string | number | boolean)[]
  readonly primitives: readonly ('string' | 'number' | 'boolean')[]
  /** Objects with declared members. */
  readonly objects: readonly ObjectShape[]
  /** Elements of lists. */
  readonly elements: readonly Type[]
  /** Any JSON is allowed: a schema, arguments, labels. */
  readonly isOpen: boolean
}

export interface ObjectShape {
  readonly id: number
  readonly members: readonly Member[]
}

export interface Member {
  readonly name: string
  readonly isOptional: boolean
  readonly type: Type
}

export interface RequestTypes {
  /** The type of the body in a format. */
  bodyOf(format: string): ObjectShape
  shapeOf(type: Type): Shape
}

/** Reads the declarations, as long as `use` runs. */
export function withRequestTypes<Result>(use: (types: RequestTypes) => Result): Result {
  // Inside of the repository, so that the packages are found; hidden, so that `npm pack` skips it.
  const folder = join(root, 'dist/.wire-types', `requests-${process.pid}`)
  const [config, file] = [join(folder, 'tsconfig.json'), join(folder, 'requests.ts')]
  mkdirSync(folder, { recursive: true })
  writeFileSync(config, JSON.stringify(settings))
  writeFileSync(file, declarations)
  const api = new API({ cwd: root })
  const shapes = new Map<number, Shape>()
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error('the compiler does not read the declarations')
    const { checker } = project
    const symbol = checker.getSymbolAtPosition(file, declarations.indexOf('Requests {'))
    if (!symbol) throw new Error('the requests are not declared')
    const bodies = new Map(membersOf(checker, checker.getDeclaredTypeOfSymbol(symbol)).map(({ name, type }) => [name, type]))
    return use({
      bodyOf(format) {
        const type = bodies.get(format)
        if (!type) throw new Error(`${format} has no request`)
        return { id: type.id, members: membersOf(checker, type) }
      },
      shapeOf(type) {
        const shape = shapes.get(type.id) ?? shapeOf(checker, type)
        shapes.set(type.id, shape)
        return shape
      },
    })
  } finally {
    api.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function membersOf(checker: Checker, type: Type): Member[] {
  const symbols = checker.getPropertiesOfType(type)
  const types = checker.getTypeOfSymbol(symbols)
  return symbols.flatMap((symbol, at) => {
    const member = types[at]
    return member ? [{ name: symbol.name, isOptional: (symbol.flags & SymbolFlags.Optional) !== 0, type: member }] : []
  })
}

function shapeOf(checker: Checker, type: Type): Shape {
  const literals: (string | number | boolean)[] = []
  const primitives = new Set<'string' | 'number' | 'boolean'>()
  const objects: ObjectShape[] = []
  const elements: Type[] = []
  let isOpen = false

  const read = (each: Type): void => {
    if (each.isUnionType()) each.getTypes().forEach(read)
    else if (each.isBooleanLiteralType()) primitives.add('boolean')
    else if (each.isStringLiteralType() || each.isNumberLiteralType()) literals.push(each.value)
    else if (each.isIntrinsicType()) readIntrinsic(each.intrinsicName)
    else if (checker.isArrayType(each)) elements.push(...(each.isTypeReference() ? checker.getTypeArguments(each) : []))
    else readObject(each)
  }
  const readIntrinsic = (name: string): void => {
    if (name === 'string' || name === 'number' || name === 'boolean') primitives.add(name)
    else if (name === 'any' || name === 'unknown' || name === 'object') isOpen = true
  }
  const readObject = (each: Type): void => {
    const members = membersOf(checker, each)
    // `string & {}` allows any text beside the known ones.
    if (each.isIntersectionType() && each.getTypes().some((part) => part.isIntrinsicType())) primitives.add('string')
    else if (members.length > 0) objects.push({ id: each.id, members })
    else isOpen = true
  }

  read(type)
  return { literals, primitives: [...primitives], objects, elements, isOpen }
}
