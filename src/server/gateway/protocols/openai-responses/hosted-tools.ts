import { named, plainType, runByCallers, type VendorTools } from '../hosted-tools.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { toolLists } from './tool-lists.ts'

/** Tools of a Responses request, including those in its input items. */
export function responsesTools(body: JsonObject): VendorTools {
  const compacts = arrayAt(body, 'context_management').length > 0 ? ['compaction'] : []
  const tools = toolLists(body).flatMap((list) => list.tools.filter(isObject))
  return named(tools.flatMap(namesOf), { free, more: compacts })
}

const free: ReadonlySet<string> = new Set(['mcp', 'programmatic_tool_calling'])

function namesOf(tool: JsonObject): string[] {
  const name = plainType(textAt(tool, 'type'))
  switch (name) {
    case 'code_interpreter':
      return [withMemory(name, objectAt(tool, 'container'))]
    case 'shell': {
      const environment = objectAt(tool, 'environment')
      return environment && environment.type !== 'local' ? [withMemory(name, environment)] : []
    }
    default:
      return name === '' || runByCallers.has(name) ? [] : [name]
  }
}

/** A larger container has its own price. */
function withMemory(name: string, container: JsonObject | undefined): string {
  const memory = textAt(container ?? {}, 'memory_limit')
  return memory === '' || memory === '1g' ? name : `${name}_${memory}`
}
