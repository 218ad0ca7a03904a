import type { Language, Text } from '../../contract/text.ts'
import type { OpenApp } from './app.ts'

/** The first notice for the operator: on a terminal text in its language, otherwise lines of the log, in English and at any level. */
export function welcome({ app, createdKey, root }: OpenApp, url: string): void {
  const listens = text(`Sluice ${app.version} 已启动：${url}`, `Sluice ${app.version} listens on ${url}`)
  const notes = [...keyNote(createdKey), ...foreignDatabaseNote(), ...loginNote(root)]
  if (process.stdout.isTTY) {
    const language = terminalLanguage(process.env)
    const next = text(
      `下一步：打开“渠道”（${url}/channel），添加一个渠道`,
      `Next: open Channels (${url}/channel) and add one, with the key of your provider`,
    )
    process.stdout.write(`\n  ${[listens, ...notes, next].map((line) => line[language]).join('\n  ')}\n\n`)
    return
  }
  const log = app.logger.child({}, { level: 'info' })
  log.info({ url, version: app.version }, listens.en)
  for (const note of notes) log.warn(note.en)
}

function keyNote(createdKey: string | undefined): Text[] {
  if (!createdKey) return []
  return [
    text(
      `已生成主密钥：${createdKey}。请在数据库之外另存一份；没有它，任何已保存的密钥都无法读取。`,
      `A master key was generated: ${createdKey}. Keep a copy of it apart from the database; without it no stored secret can be read.`,
    ),
  ]
}

function foreignDatabaseNote(): Text[] {
  if (!process.env.SQL_DSN) return []
  return [
    text(
      'SQL_DSN 指向另一个程序的数据库，不会打开它。导入数据请运行：sluice import new-api --dry-run（或 one-api）。',
      'SQL_DSN names a database of another program: it is not opened. Take it over with: sluice import new-api --dry-run (or one-api).',
    ),
  ]
}

function loginNote(root: OpenApp['root']): Text[] {
  if (!root) return []
  return root.defaultPassword
    ? [text('用 root 和密码 123456 登录，并立即修改密码。', 'Log in as root with the password 123456 and change it at once.')]
    : [text('用 root 和 ROOT_PASSWORD 中的密码登录。', 'Log in as root with the password of ROOT_PASSWORD.')]
}

/** The language of the messages of a POSIX system: Chinese only where it asks for that. */
function terminalLanguage({ LC_ALL, LC_MESSAGES, LANG }: NodeJS.ProcessEnv): Language {
  return (LC_ALL || LC_MESSAGES || LANG || '').startsWith('zh') ? 'zh' : 'en'
}

const text = (zh: string, en: string): Text => ({ zh, en })
