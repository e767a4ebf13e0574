"""Decodes messages with Python's protobuf runtime and compares them, field by field, with the objects they were made of.

    decode.py DESCRIPTORS < LINES

A line is a JSON object: `message` (full name), `bytes` (hex) and `object`. Prints one line for each disagreement, then how many
messages and fields were compared. The rules of comparison are written here a second time on purpose, from protobuf's and Kubernetes'
documentation: nothing of the transcoder is used.
"""

import base64
import datetime
import json
import re
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor

META = "k8s.io.apimachinery.pkg.apis.meta.v1."
INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
}

fields = 0
wrong = []


def classes(path):
    """Every message class of a descriptor set, by full name."""
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as source:
        files.ParseFromString(source.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName(name))


def nanoseconds(text):
    """RFC 3339 as nanoseconds since 1970."""
    whole, fraction = re.fullmatch(r"([^.]+?)(?:\.(\d+))?Z", text).groups()
    moment = datetime.datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since.days * 86400 + since.seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))


def span(text):
    """`-1.5s` as nanoseconds."""
    sign, whole, fraction = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?s", text).groups()
    return (-1 if sign else 1) * (int(whole) * 10**9 + int((fraction or "0").ljust(9, "0")))


def report(path, left, right):
    wrong.append(f"{path}: the object says {left!r}, the message {right!r}")


def compare_value(field, value, said, path):
    global fields
    fields += 1
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        compare(value, said, path)
        return
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        value = known.name if known else value
    elif field.type == FieldDescriptor.TYPE_BYTES:
        said = base64.b64decode(said)
    elif field.cpp_type in INTEGERS:
        said = int(said)
    if type(value) is not type(said) and not (isinstance(value, float) and isinstance(said, int)) or value != said:
        report(path, said, value)


def compare_special(message, said, path):
    """Compares a message whose JSON is not its shape; False where it is one with the shape."""
    name = message.DESCRIPTOR.full_name
    if name == "google.protobuf.Timestamp" or name in (META + "Time", META + "MicroTime"):
        left, right = nanoseconds(said), message.seconds * 10**9 + message.nanos
    elif name == "google.protobuf.Duration":
        left, right = span(said), message.seconds * 10**9 + message.nanos
    elif name in ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"):
        left, right = said, json_format.MessageToDict(message)
    elif name == "google.protobuf.Any":
        left = (said["@type"], base64.b64decode(said.get("value", "")))
        right = (message.type_url, message.value)
    elif name == "k8s.io.apimachinery.pkg.api.resource.Quantity":
        left, right = said, message.string
    elif name == "k8s.io.apimachinery.pkg.util.intstr.IntOrString":
        left, right = said, message.intVal if message.type == 0 else message.strVal
    elif name == META + "FieldsV1":
        left, right = said, json.loads(message.Raw)
    else:
        return False
    if left != right:
        report(path, left, right)
    return True


def compare(message, said, path):
    if len(message.UnknownFields()) > 0:
        wrong.append(f"{path}: the message has fields that nobody knows")
    if compare_special(message, said, path):
        return
    said = dict(said)
    for field in message.DESCRIPTOR.fields:
        here = f"{path}.{field.json_name}"
        value = getattr(message, field.name)
        is_message = field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
        if is_message and field.message_type.full_name == META + "TypeMeta" and field.json_name not in said:
            # Kubernetes' JSON has these two beside the rest, where it does not name the field.
            for name in ("kind", "apiVersion"):
                compare_value(field.message_type.fields_by_name[name], getattr(value, name), said.pop(name, ""), here)
            continue
        if is_message and field.message_type.GetOptions().map_entry:
            entries = said.pop(field.json_name, {})
            if {str(key) for key in value} != set(entries):
                report(here, sorted(entries), sorted(value))
                continue
            of = field.message_type.fields_by_name["value"]
            for key in value:
                compare_value(of, value[key], entries[str(key)], f"{here}[{key}]")
        elif field.label == FieldDescriptor.LABEL_REPEATED:
            items = said.pop(field.json_name, [])
            if len(items) != len(value):
                report(here, items, list(value))
                continue
            for place, (item, one) in enumerate(zip(value, items)):
                compare_value(field, item, one, f"{here}[{place}]")
        elif field.json_name in said:
            if is_message and not message.HasField(field.name):
                report(here, said[field.json_name], None)
            compare_value(field, value, said.pop(field.json_name), here)
        elif is_message:
            # Where the object says nothing the message is absent, or holds what is written in any case.
            empty(value, here)
        elif value != field.default_value:
            report(here, None, value)
    for name in said:
        report(f"{path}.{name}", said[name], None)


def empty(message, path):
    for field, value in message.ListFields():
        if field.label == FieldDescriptor.LABEL_REPEATED:
            report(f"{path}.{field.json_name}", None, value)
        elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            empty(value, f"{path}.{field.json_name}")
        elif value != field.default_value:
            report(f"{path}.{field.json_name}", None, value)


def main():
    find = classes(sys.argv[1])
    messages = 0
    for line in sys.stdin:
        task = json.loads(line)
        data = bytes.fromhex(task["bytes"])
        message = find(task["message"])()
        label = f"{messages}: {task['message']}"
        try:
            message.ParseFromString(data)
            compare(message, task["object"], label)
            # Fields in order, maps by key: what this runtime writes is what it was given.
            if message.SerializeToString(deterministic=True) != data:
                wrong.append(f"{label}: written again, the bytes are others")
        except Exception as error:
            wrong.append(f"{label}: {error!r}")
        messages += 1
    for line in wrong:
        print(line)
    print(json.dumps({"messages": messages, "fields": fields, "wrong": len(wrong)}))


main()
