# Prints the price data of a wheel as JSON. `read-wheel.py genai-prices FILE` reads the constructor calls of its data module without running
# them: a call becomes an object of its arguments, a date or a time the text of it. `read-wheel.py litellm FILE` prints its price map.
import ast
import datetime
import json
import sys
import zipfile

paths = {'genai-prices': 'genai_prices/data.py', 'litellm': 'litellm/model_prices_and_context_window_backup.json'}


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id


def plain(node):
    if isinstance(node, ast.List):
        return [plain(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {plain(key): plain(value) for key, value in zip(node.keys, node.values)}
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    kind = name_of(node.func)
    if kind == 'Decimal':
        return float(plain(node.args[0]))
    if kind in ('date', 'time'):
        offset = [word for word in node.keywords if name_of(word.value) != 'UTC']
        if offset:
            raise ValueError(f'a time that is not in UTC: {ast.unparse(node)}')
        value = getattr(datetime, kind)(*map(plain, node.args)).isoformat()
        return value + 'Z' if kind == 'time' else value
    # `or` and `and` are words of the language: the arguments are or_ and and_.
    return {word.arg.rstrip('_'): plain(word.value) for word in node.keywords}


def providers(source):
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and name_of(statement.target) == 'providers':
            return plain(statement.value)
    raise ValueError('the module has no list of providers')


def member(wheel, path):
    return wheel.read(path).decode()


source, file = sys.argv[1:]
with zipfile.ZipFile(file) as wheel:
    names = wheel.namelist()
    licence = next(name for name in names if '.dist-info/' in name and name.rsplit('/', 1)[-1] == 'LICENSE')
    data = member(wheel, paths[source])
    known = {'licence': member(wheel, licence)}
    if source == 'genai-prices':
        update = ast.parse(member(wheel, 'genai_prices/update_prices.py'))
        known['updateUrl'] = next(
            plain(one.value) for one in update.body if isinstance(one, ast.Assign) and name_of(one.targets[0]) == 'DEFAULT_UPDATE_URL'
        )
    json.dump({**known, 'data': providers(data) if source == 'genai-prices' else json.loads(data)}, sys.stdout)
