// A program that locks the tables of a SQLite file for 30 of every 60 milliseconds: `node intermittent-lock.mjs FILE`. It prints a line
// when it begins, and ends with the one that started it.
import { DatabaseSync } from 'node:sqlite'

const [, , file = ''] = process.argv
const database = new DatabaseSync(file)
database.exec('pragma busy_timeout = 60000')
process.on('disconnect', () => process.exit())

const lock = () => {
  database.exec('begin immediate')
  setTimeout(unlock, 30)
}
const unlock = () => {
  database.exec('commit')
  setTimeout(lock, 30)
}
lock()
process.stdout.write('locking\n')
