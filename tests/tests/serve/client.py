# What Python's Kubernetes client gets from the server whose URL is the argument, as one JSON object.
import json, sys
from kubernetes import client

configuration = client.Configuration()
configuration.host = sys.argv[1]
api = client.CustomObjectsApi(client.ApiClient(configuration))
where = ("michelangelo.api", "v2", "ml", "models")


def names(**parameters):
    listed = api.list_namespaced_custom_object(*where, **parameters)
    return [item["metadata"]["name"] for item in listed["items"]]


pages, token = [], None
while token is None or token:
    parameters = {"_continue": token} if token else {}
    page = api.list_namespaced_custom_object(*where, limit=15, **parameters)
    pages.append(len(page["items"]))
    token = page["metadata"].get("continue", "")

answer = {"all": names(), "selected": names(label_selector="n=2"), "pages": pages}
# Older releases of the client have no selector there.
path = "/apis/%s/%s/namespaces/%s/%s" % where
api.api_client.call_api(path, "DELETE", query_params=[("labelSelector", "n=3")], response_type="object")
answer["left"] = names()
try:
    api.get_namespaced_custom_object(*where, name="none")
except client.exceptions.ApiException as error:
    answer["missing"] = [error.status, json.loads(error.body)["reason"]]
print(json.dumps(answer))
